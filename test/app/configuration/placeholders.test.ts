// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { describe, expect, test } from '@jest/globals';
import { resolvePlaceholders } from '../../../app/configuration/placeholders.ts';

const KNOWN: Readonly<Record<string, string>> = { HOST: 'db', EMPTY: '', PASSWORD: 'a${HOST}}:{b' };

const resolve = (text: string) => resolvePlaceholders(text, (name) => KNOWN[name]);

describe('placeholders', () => {
  test.each([
    ['no placeholder stays as it is', 'plain $HOST {HOST}', 'plain $HOST {HOST}'],
    ['a known name is replaced', '${HOST}', 'db'],
    ['several are replaced, with the text between them', 'x-${HOST}-${HOST}-y', 'x-db-db-y'],
    ['a known name beats its default', '${HOST:other}', 'db'],
    ['an unknown name gives its default', '${NO:other}', 'other'],
    ['a default may hold colons', '${NO:postgresql://h:5432/d}', 'postgresql://h:5432/d'],
    ['a default may hold placeholders', '${NO:postgresql://${HOST}:${PORT:5432}/d}', 'postgresql://db:5432/d'],
    ['a default may be empty', '[${NO:}]', '[]'],
    ['an empty value is a value', '[${EMPTY:default}]', '[]'],
    ['what a name stands for is not searched again', '${PASSWORD}', 'a${HOST}}:{b'],
    ['a backslash keeps the placeholder as text', 'a\\${HOST}b${HOST}', 'a${HOST}bdb'],
    ['a missing brace keeps the text', 'p${HOST', 'p${HOST'],
    ['a missing brace after a placeholder keeps the rest', '${HOST}${HOST', 'db${HOST'],
  ])('%s', (_name, text, expected) => {
    expect(resolve(text)).toEqual({ text: expected, missing: [] });
  });

  test('every unknown name without default is reported, nested ones too', () => {
    expect(resolve('${A}${HOST}${B:${C}}').missing).toEqual(['A', 'C']);
  });
});
