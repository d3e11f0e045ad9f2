import { isSection, type SettingPath } from '../settings/schema/document.ts';
import type { SourceFile } from './source-file.ts';

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

/** A part of a file that is laid over, or under, others to make one consumer. */
export interface Layer {
  readonly value: unknown;
  /** `consumer.yaml:12:5` of the value at a path in the layer; `undefined` when it has none there. */
  readonly locate: (path: SettingPath) => string | undefined;
  /** The file, for what is nowhere in it. */
  readonly file: string;
}

/** The layer that is one value of a file; it need not be there. */
export function layerAt({ locate, name }: SourceFile, path: SettingPath, value: unknown): Layer {
  return { value, locate: (inner) => locate([...path, ...inner]), file: name };
}

/**
 * Where the value at a path is written, in the uppermost layer that has it; failing that its parent's place, so that a
 * person finds the section. What no layer has, not even its section, is missing in the lowest file, which has to be
 * right by itself.
 *
 * @param layers the uppermost last
 */
export function locateIn(layers: readonly Layer[], path: SettingPath): string | undefined {
  const uppermostFirst = layers.toReversed();
  for (let length = path.length; length >= 0; length -= 1) {
    const part = path.slice(0, length);
    const found = uppermostFirst.map(({ locate }) => locate(part)).find((each) => each !== undefined);
    if (found !== undefined) {
      return found;
    }
  }
  return layers[0]?.file;
}
