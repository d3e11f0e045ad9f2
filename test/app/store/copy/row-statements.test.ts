import { Duplex } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Connection } from 'pg';
import { type BoundValues, RowStatements, withoutValues } from '../../../../app/store/copy/row-statements.ts';

type Values = readonly (string | null)[];

/** A number of two bytes that is 0. */
const NO_FORMATS = Buffer.alloc(2);
/** One format for all results: text. */
const RESULTS_OF_PG = Buffer.from([0, 1, 0, 0]);
const SQL = 'INSERT INTO orders VALUES ($1)';

/** The messages that go to PostgreSQL. Each begins with its type, and its length, which counts itself. */
function sentBy(send: (connection: Connection) => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    chunks.push(chunk);
    done();
  };
  send(new Connection({ stream: () => new Duplex({ write, read: () => undefined }) }));
  const bytes = Buffer.concat(chunks);
  const messages: Buffer[] = [];
  let end = 0;
  for (let at = 0; at < bytes.length; at = end) {
    end = at + 1 + bytes.readInt32BE(at + 1);
    expect(end).toBeGreaterThan(at);
    messages.push(bytes.subarray(at, end));
  }
  return messages;
}

const typesOf = (messages: readonly Buffer[]): string =>
  messages.map((message) => message.toString('latin1', 0, 1)).join('');

/**
 * A Bind of pg without formats: it has one for each parameter, and one for all results. Each is text, as are those that
 * a Bind leaves out (PostgreSQL's "Message Formats").
 */
function withoutFormats(bind: Buffer): Buffer {
  const endOfPortal = bind.indexOf(0, 5);
  const formats = bind.indexOf(0, endOfPortal + 1) + 1;
  const values = formats + 2 + 2 * bind.readInt16BE(formats);
  const results = bind.length - RESULTS_OF_PG.length;
  expect(bind.subarray(formats + 2, values)).toEqual(Buffer.alloc(values - formats - 2));
  expect(bind.subarray(results)).toEqual(RESULTS_OF_PG);
  const message = Buffer.concat([bind.subarray(0, formats), NO_FORMATS, bind.subarray(values, results), NO_FORMATS]);
  message.writeInt32BE(message.length - 1, 1);
  return message;
}

/** What pg sends to execute a statement for each row. */
const executedByPg = (name: string, rows: readonly Values[]): readonly Buffer[] =>
  sentBy((connection) => {
    for (const values of rows) {
      connection.bind({ statement: name, values: [...values] }, true);
      connection.execute(null, true);
    }
  }).map((message) => (typesOf([message]) === 'B' ? withoutFormats(message) : message));

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

function bound(values: Values): BoundValues {
  const texts = values.flatMap((value) =>
    value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), Buffer.from(value)],
  );
  return Buffer.concat([int32(values.length).subarray(2), ...texts]);
}

/** What goes to PostgreSQL for the rows of a statement behind what makes it, and before the Sync. */
function executed(name: string, rows: readonly Values[]): readonly Buffer[] {
  const messages = sentBy((connection) => {
    new RowStatements([{ name, sql: SQL, rows: rows.map(bound) }]).submit(connection);
  });
  const made = name === '' ? 1 : 2;
  expect(typesOf(messages)).toBe(`${name === '' ? 'P' : 'CP'}${'BE'.repeat(rows.length)}S`);
  return messages.slice(made, -1);
}

describe.each(['', 'stream_consumer_0123456789abcdef'])('the rows of the statement %j', (name) => {
  test.each<[string, readonly Values[]]>([
    ['a text', [['7']]],
    ['NULL', [[null]]],
    ['an empty text', [['']]],
    ['NULL and empty texts beside others', [['1', null, '', null, 'x']]],
    ['the text of bytes', [['\\x00ff5c27']]],
    ['characters of one to four bytes', [['aü€😀', 'ﬀ\u{feff}']]],
    ['what SQL or COPY would escape', [["'; DROP TABLE a; --", '\\N\t\r\n\\.']]],
    ['a text of 70 kB', [['ü'.repeat(35_000), 'x']]],
    ['300 columns', [Array.from({ length: 300 }, (_, nth) => `${nth}`)]],
    [
      'several rows of several lengths',
      [
        ['1', 'one'],
        ['2', null],
        ['3', ''],
        ['40', 'forty'],
      ],
    ],
    ['no values', [[]]],
  ])('are what pg sends, for %s', (_, rows) => {
    expect(executed(name, rows)).toEqual(executedByPg(name, rows));
  });

  test('are what pg sends, whatever they are', () => {
    const value = fc.option(fc.string({ unit: 'grapheme' }));
    const anyRows = fc.array(fc.array(value, { maxLength: 8 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(anyRows, (rows) => {
        expect(executed(name, rows)).toEqual(executedByPg(name, rows));
      }),
    );
  });
});

test('a statement without parameters is what pg sends for no values', () => {
  const sent = sentBy((connection) => new RowStatements([withoutValues('COMMIT')]).submit(connection));
  const parsed = sentBy((connection) => connection.parse({ name: '', text: 'COMMIT', types: [] }, true));
  const synced = sentBy((connection) => connection.sync());
  expect(sent).toEqual([...parsed, ...executedByPg('', [[]]), ...synced]);
});

test('a statement that the session keeps is executed by its name alone', () => {
  const sent = sentBy((connection) => {
    const first = new RowStatements([{ name: 'kept', sql: SQL, rows: [bound(['1'])] }]);
    first.submit(connection);
    first.handleReadyForQuery();
    new RowStatements([{ name: 'kept', sql: SQL, rows: [bound(['2'])] }]).submit(connection);
  });
  expect(typesOf(sent)).toBe('CPBESBES');
  expect(sent.slice(5, 7)).toEqual(executedByPg('kept', [['2']]));
});
