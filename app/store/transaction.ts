/**
 * Begins a transaction at the level that every statement here is made for, whatever the server's or the role's default is.
 * At a stricter one a session that waited for another's commit fails instead of seeing what it did.
 */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/** The same, and deferred constraints are checked at once: at COMMIT they would refuse the whole, and no row could be named any more. */
export const BEGIN_ROWS = `${BEGIN}; SET CONSTRAINTS ALL IMMEDIATE`;
