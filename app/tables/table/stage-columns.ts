/** Numbers of rows in a stage: a later record of a partition has a larger one. */
export const SEQUENCE = '"(sequence)"';

/** What a row is for: {@link UPSERT}, {@link DELETE}, or nothing, as it lacks what it was to keep. */
export const OPERATION = '"(operation)"';
export const UPSERT = 'u';
export const DELETE = 'd';
export const LACKING = 'l';

/** Which columns a row keeps as the table has them, a bit for each of the table's in their order; NULL: none. */
export const KEPT = '"(kept)"';
