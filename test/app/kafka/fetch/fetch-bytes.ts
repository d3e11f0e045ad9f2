/** Bytes of fetches as a broker reads and writes them, by a second reading of the schema. */

/** The topic ids of these tests: sixteen times the same byte. */
export const topicId = (byte: number): string => Buffer.alloc(16, byte).toString('base64url');

/** What a broker answers for a partition; nothing else is wrong with it. */
export interface PartitionAnswer {
  readonly partition: number;
  readonly error?: number;
  readonly highWatermark?: number;
  readonly logStart?: number;
  readonly lastStableOffset?: number;
  readonly aborted?: readonly (readonly [producerId: number, firstOffset: number])[];
  readonly set?: Buffer | null;
  readonly diverging?: readonly [leaderEpoch: number, endOffset: number];
}

/** A topic by its name, or by its id. */
export type TopicAnswer = readonly [topic: string, partitions: readonly PartitionAnswer[]];

export const int8 = (value: number): Buffer => Buffer.from([value & 0xff]);

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);

function uvarint(value: number): Buffer {
  return value < 0x80 ? int8(value) : Buffer.concat([int8((value & 0x7f) | 0x80), uvarint(value >>> 7)]);
}

const isFlexible = (version: number): boolean => version >= 12;
const tags = (version: number): Buffer => (isFlexible(version) ? int8(0) : Buffer.alloc(0));
const since = (version: number, first: number, bytes: Buffer): Buffer => (version >= first ? bytes : Buffer.alloc(0));

function array(version: number, items: readonly Buffer[]): Buffer {
  const count = isFlexible(version) ? uvarint(items.length + 1) : int32(items.length);
  return Buffer.concat([count, ...items]);
}

function bytes(version: number, content: Buffer | null): Buffer {
  const size = content === null ? -1 : content.length;
  return Buffer.concat([isFlexible(version) ? uvarint(size + 1) : int32(size), content ?? Buffer.alloc(0)]);
}

function partitionBytes(version: number, answer: PartitionAnswer): Buffer {
  const {
    partition,
    error = 0,
    highWatermark = 0,
    lastStableOffset = highWatermark,
    logStart = 0,
    aborted = [],
    set = null,
  } = answer;
  const transactions = aborted.map(([producer, first]) =>
    Buffer.concat([int64(producer), int64(first), tags(version)]),
  );
  const end = answer.diverging
    ? Buffer.concat([
        uvarint(1),
        uvarint(0),
        uvarint(13),
        int32(answer.diverging[0]),
        int64(answer.diverging[1]),
        int8(0),
      ])
    : tags(version);
  return Buffer.concat([
    int32(partition),
    int16(error),
    int64(highWatermark),
    int64(lastStableOffset),
    since(version, 5, int64(logStart)),
    array(version, transactions),
    since(version, 11, int32(-1)),
    bytes(version, set),
    end,
  ]);
}

/** The answer of a broker without its size and correlation id; from version 12 on its head ends with tagged fields. */
export function answerBytes(version: number, topics: readonly TopicAnswer[], { throttle = 0, error = 0 } = {}): Buffer {
  const topicBytes = topics.map(([topic, partitions]) =>
    Buffer.concat([
      version >= 13 ? Buffer.from(topic, 'base64url') : string(topic),
      array(
        version,
        partitions.map((of) => partitionBytes(version, of)),
      ),
      tags(version),
    ]),
  );
  return Buffer.concat([
    tags(version),
    int32(throttle),
    since(version, 7, Buffer.concat([int16(error), int32(0)])),
    array(version, topicBytes),
    tags(version),
  ]);
}

/** What a request by id asks for, in its order: `<first byte of the topic's id>/<partition>@<offset>e<epoch>`. */
export function askedById(request: Buffer): { readonly maxBytes: number; readonly asked: readonly string[] } {
  let at = 1 + 4 + 4 + 4;
  const maxBytes = request.readInt32BE(at);
  at += 4 + 1 + 4 + 4;
  const count = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = request.readUInt8(at);
      at += 1;
      value += (byte & 0x7f) * factor;
      factor *= 0x80;
      if (byte < 0x80) return value;
    }
  };
  const asked: string[] = [];
  for (let topics = count() - 1; topics > 0; topics -= 1) {
    const id = request.readUInt8(at);
    at += 16;
    for (let partitions = count() - 1; partitions > 0; partitions -= 1) {
      const [partition, offset, epoch] = [
        request.readInt32BE(at),
        request.readBigInt64BE(at + 8),
        request.readInt32BE(at + 16),
      ];
      asked.push(`${id}/${partition}@${offset}e${epoch}`);
      at += 33;
    }
    at += 1;
  }
  return { maxBytes, asked };
}
