/** Numbers of rows in a stage: a later record of a partition has a larger one. */
export const SEQUENCE = '"(sequence)"';

/**
 * What a row is for: {@link UPSERT}, {@link DELETE}, {@link DELETE_OLDER} unless the row of its key is newer; or
 * nothing, as it lacks what it was to keep, or is older than what was before it.
 */
export const OPERATION = '"(operation)"';
export const UPSERT = 'u';
export const DELETE = 'd';
export const DELETE_OLDER = 'o';
export const LACKING = 'l';
export const OUTDATED = 'x';

/** Which columns a row keeps as the table has them, a bit for each of the table's in their order; NULL: none. */
export const KEPT = '"(kept)"';
