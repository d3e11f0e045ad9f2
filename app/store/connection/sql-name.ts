import { escapeIdentifier } from 'pg';

/**
 * Words that no name may be without quotes: PostgreSQL's `pg_get_keywords()` has them as reserved, or as names of
 * functions and types alone (documentation, appendix "SQL Key Words").
 */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
  full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
  localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning
  right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user
  using variadic verbose when where window with`.split(/\s+/),
);

const isPlain = (name: string): boolean => /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED_WORDS.has(name);

/** A name as SQL takes it, its parts joined by dots; quoted where PostgreSQL would read it otherwise. */
export const sqlName = (...parts: readonly string[]): string =>
  parts.map((part) => (isPlain(part) ? part : escapeIdentifier(part))).join('.');
