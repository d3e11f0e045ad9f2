import { escapeIdentifier } from 'pg';

/** A name as SQL takes it, its parts joined by dots; quoted where PostgreSQL would read it otherwise. */
export const sqlName = (...parts: readonly string[]): string =>
  parts.map((part) => (/^[a-z_][a-z0-9_]*$/.test(part) ? part : escapeIdentifier(part))).join('.');
