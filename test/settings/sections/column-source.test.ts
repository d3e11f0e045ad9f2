import { describe, expect, test } from '@jest/globals';
import { parseSource, sourceMistake } from '../../../settings/sections/column-source.ts';

const field = (...path: (string | number)[]) => ({ kind: 'field', path });
const key = (...path: (string | number)[]) => ({ kind: 'key', path });

describe('the text of a source', () => {
  test.each([
    ['name', field('name')],
    ['customer.name', field('customer', 'name')],
    ['first name.ünï', field('first name', 'ünï')],
    ['items.0', field('items', '0')],
    ['_id.$oid', field('_id', '$oid')],
    ['/customer/name', field('customer', 'name')],
    ['/a.b/0', field('a.b', 0)],
    ['/lines/10/01', field('lines', 10, '01')],
    ['/-', field('-')],
    ['/a~1b~0c~01', field('a/b~c~1')],
    ['/$id', field('$id')],
    ['/items[0]', field('items[0]')],
    ['/', field('')],
    ['/99999999999', field('99999999999')],
    ['$value', field()],
    ['$key', key()],
    ['$key.id', key('id')],
    ['$key.a.b', key('a', 'b')],
    ['$key/a.b/1', key('a.b', 1)],
    ['$header.tenant', { kind: 'header', name: 'tenant' }],
    ['$header.x.y z/$', { kind: 'header', name: 'x.y z/$' }],
    ['$topic', { kind: 'topic' }],
    ['$partition', { kind: 'partition' }],
    ['$offset', { kind: 'offset' }],
    ['$timestamp', { kind: 'timestamp' }],
  ])('%s names its source', (text, source) => {
    expect(sourceMistake(text)).toBeUndefined();
    expect(parseSource(text)).toEqual(source);
  });

  const path =
    'names with a dot between each two, such as customer.name; any other name, and list positions, as a JSON Pointer, such as /a.b/0';
  const pointer = 'a JSON Pointer (RFC 6901): ~0 is ~, and ~1 is /';

  test.each([
    ['a..b', 'has a dot without a name on one of its sides', path],
    ['.a', 'has a dot without a name on one of its sides', path],
    ['a.', 'has a dot without a name on one of its sides', path],
    ['$key.', 'has a dot without a name on one of its sides', path],
    ['items[0].sku', 'has brackets', path],
    ['$key.items[0]', 'has brackets', path],
    ['/a~b', 'has a ~ that is neither ~0 nor ~1', pointer],
    ['/a~', 'has a ~ that is neither ~0 nor ~1', pointer],
    ['$key/~2', 'has a ~ that is neither ~0 nor ~1', pointer],
    ['$header', 'names no header', '$header.<name>'],
    ['$header.', 'names no header', '$header.<name>'],
    ['$header/tenant', 'names no header', '$header.<name>'],
    ['$topic.name', 'has a path behind $topic, which is no object', '$topic'],
    ['$offset/0', 'has a path behind $offset, which is no object', '$offset'],
    ['$value.name', 'has a path behind $value', '$value alone; the path of a field is written without it'],
  ])('%s is refused, with what would be right', (text, message, allowed) => {
    expect(sourceMistake(text)).toEqual({ message, allowed });
    expect(() => parseSource(text)).toThrow(new RangeError(`a source of a column ${message}: ${allowed}`));
  });

  test.each([
    ['$heder.tenant', '$header'],
    ['$keys', '$key'],
    ['$Topic', '$topic'],
    ['$time_stamp', '$timestamp'],
    ['$.customer.name', undefined],
    ['$', undefined],
    ['$xyzzy', undefined],
  ])('%s has no word that is known; the nearest is %s', (text, nearest) => {
    expect(sourceMistake(text)).toEqual({
      message: 'begins with a $ word that is not known',
      allowed:
        '$value, $key, $key.<field>, $header.<name>, $topic, $partition, $offset, $timestamp, and of a change event $op or $source.<field>; a field whose name begins with $ is written as a JSON Pointer, such as /$id',
      ...(nearest !== undefined && { nearest }),
    });
  });
});
