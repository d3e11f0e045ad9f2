type Section = Readonly<Record<string, unknown>>;

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lays one document over another: maps merge key by key, anything else replaces what was there, `null` removes it. */
export function overlay(base: unknown, over: unknown): unknown {
  if (over === undefined) {
    return base;
  }
  if (!isSection(over)) {
    return over;
  }
  const merged: Record<string, unknown> = isSection(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(over)) {
    if (value === null) {
      delete merged[key];
    } else {
      merged[key] = overlay(merged[key], value);
    }
  }
  return merged;
}
