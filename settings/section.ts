/** Options of an object that refuses keys it does not know. */
export const closed = { additionalProperties: false } as const;

/** Options of a section that may be left out: its own defaults fill it in. */
export const section = { ...closed, default: {} } as const;
