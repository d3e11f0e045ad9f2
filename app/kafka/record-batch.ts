import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type { RecordHeader, StreamRecord } from '../stream/record.ts';
import { BatchObjects, type BatchRoom, batchRoom, hasToBeCounted } from './batch-memory.ts';
import { EventLoopTurns } from './event-loop-turns.ts';
import { RecordReader, requireCount } from './record-reader.ts';

const require = createRequire(import.meta.url);

const { lookupCodecByAttributes } = require('kafkajs/src/protocol/message/compression') as {
  lookupCodecByAttributes(attributes: number): { decompress(bytes: Buffer): Promise<Buffer> } | null;
};

/** Where a batch of record format v2 has the fields of its head. */
const HEAD = {
  firstOffset: 0,
  leaderEpoch: 12,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  records: 57,
  bytes: 61,
} as const;

const ATTRIBUTE = { logAppendTime: 0x8, transactional: 0x10, control: 0x20 } as const;

/** Length, attributes, two deltas, two lengths and the count of headers. */
const LEAST_RECORD_BYTES = 7;
/** Two lengths. */
const LEAST_HEADER_BYTES = 2;

/** What the filter of aborted transactions and the position behind a record need of its batch. */
interface BatchContext {
  readonly producerId: string;
  readonly inTransaction: boolean;
  readonly partitionLeaderEpoch: number;
}

/** A record as kafkajs's batch and its filter of aborted transactions take one. */
export interface DecodedRecord extends StreamRecord {
  readonly isControlRecord: boolean;
  readonly batchContext: BatchContext;
}

interface BatchHead {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly firstTimestamp: bigint;
  /** The broker's own time for all records, where the topic says so; their deltas mean nothing then. */
  readonly appendTime: bigint | null;
  readonly isControl: boolean;
  readonly context: BatchContext;
}

function headOf(batch: Buffer): BatchHead {
  const attributes = batch.readInt16BE(HEAD.attributes);
  const firstOffset = batch.readBigInt64BE(HEAD.firstOffset);
  return {
    firstOffset,
    lastOffset: firstOffset + BigInt(batch.readInt32BE(HEAD.lastOffsetDelta)),
    firstTimestamp: batch.readBigInt64BE(HEAD.firstTimestamp),
    appendTime: attributes & ATTRIBUTE.logAppendTime ? batch.readBigInt64BE(HEAD.maxTimestamp) : null,
    isControl: (attributes & ATTRIBUTE.control) !== 0,
    context: {
      producerId: batch.readBigInt64BE(HEAD.producerId).toString(),
      inTransaction: (attributes & ATTRIBUTE.transactional) !== 0,
      partitionLeaderEpoch: batch.readInt32BE(HEAD.leaderEpoch),
    },
  };
}

const REPLACEMENT_CHARACTER = '\ufffd';

/** One list for all records without headers. */
const NO_HEADERS: RecordHeader[] = [];

const NO_KEY = 'a header has no key';

/** A key that is not UTF-8 stays bytes: as text it would be another key. */
function readHeader(reader: RecordReader): RecordHeader {
  const bytes = reader.field();
  if (bytes === null) {
    throw new Error(NO_KEY);
  }
  const key = bytes.toString('utf8');
  const isText = !key.includes(REPLACEMENT_CHARACTER) || isUtf8(bytes);
  return { key: isText ? key : bytes, value: reader.field() };
}

/** The first fields of a record, up to its headers. */
function readFields(reader: RecordReader, { firstOffset, firstTimestamp, appendTime }: BatchHead) {
  reader.byte(); // attributes, of which there are none
  const timestampDelta = reader.varlong();
  const timestamp = appendTime ?? firstTimestamp + timestampDelta;
  const offset = firstOffset + BigInt(reader.varint());
  return { offset, timestamp, key: reader.field(), value: reader.field() };
}

/** Records, or headers, that are read before the time is looked at. */
const STEP = 256;

/** Decodes the batches of a fetch that have record format v2. Other work of the event loop has its turn between them and within large ones. */
export class BatchDecoder {
  readonly turns = new EventLoopTurns();
  readonly room: () => BatchRoom;

  /** @param room what the records of one batch may take. @default that of this process */
  constructor(room: () => BatchRoom = batchRoom) {
    this.room = room;
  }

  /**
   * The records of a batch whose checksum is right. One whose last records were compacted away ends with a control
   * record at its real last offset.
   *
   * @throws TooManyObjectsError when they would take more memory than there is; none is made
   * @throws Error when the content is no records, or unpacks to more than allowed
   */
  async decode(batch: Buffer): Promise<readonly DecodedRecord[]> {
    await this.turns.afterTurn();
    const count = batch.readInt32BE(HEAD.records);
    const packed = batch.subarray(HEAD.bytes);
    const codec = count === 0 ? null : lookupCodecByAttributes(batch.readInt16BE(HEAD.attributes));
    const content = codec === null ? packed : await codec.decompress(packed);
    requireCount(count, content.length, LEAST_RECORD_BYTES);
    const room = this.room();
    if (hasToBeCounted(content.length, room)) {
      (await this.#count(content, count)).requireRoom(content.length, room);
    }
    const head = headOf(batch);
    const records = await this.#read(new RecordReader(content), count, head);
    if ((records.at(-1)?.offset ?? -1n) < head.lastOffset) {
      records.push(endOf(head));
    }
    return records;
  }

  async #count(content: Buffer, count: number): Promise<BatchObjects> {
    const objects = new BatchObjects();
    const reader = new RecordReader(content);
    for (let nth = 1; nth <= count; nth += 1) {
      const record = reader.record();
      record.byte();
      record.skipVarlong();
      record.varint();
      const [key, value] = [record.skipField(), record.skipField()];
      const headers = record.count(LEAST_HEADER_BYTES);
      objects.addRecord(key, value, headers);
      for (let header = 1; header <= headers; header += 1) {
        const length = record.skipField();
        if (length < 0) {
          throw new Error(NO_KEY);
        }
        objects.addHeader(length, record.wasAscii(length), record.skipField());
        if (header % STEP === 0) {
          await this.turns.afterTurn();
        }
      }
      record.requireEnd('a record');
      if (nth % STEP === 0) {
        await this.turns.afterTurn();
      }
    }
    reader.requireEnd('a batch');
    return objects;
  }

  async #read(reader: RecordReader, count: number, head: BatchHead): Promise<DecodedRecord[]> {
    const { isControl: isControlRecord, context: batchContext } = head;
    const records = new Array<DecodedRecord>(count);
    for (let nth = 0; nth < count; nth += 1) {
      const record = reader.record();
      const { offset, timestamp, key, value } = readFields(record, head);
      const headerCount = record.count(LEAST_HEADER_BYTES);
      const headers = headerCount === 0 ? NO_HEADERS : new Array<RecordHeader>(headerCount);
      for (let header = 0; header < headerCount; header += 1) {
        headers[header] = readHeader(record);
        if (header % STEP === STEP - 1) {
          await this.turns.afterTurn();
        }
      }
      record.requireEnd('a record');
      records[nth] = { offset, timestamp, key, value, headers, isControlRecord, batchContext };
      if (nth % STEP === STEP - 1) {
        await this.turns.afterTurn();
      }
    }
    reader.requireEnd('a batch');
    return records;
  }
}

/** What ends a batch whose last records were compacted away. */
const endOf = ({ lastOffset, firstTimestamp, context }: BatchHead): DecodedRecord => ({
  offset: lastOffset,
  timestamp: firstTimestamp,
  key: null,
  value: null,
  headers: NO_HEADERS,
  isControlRecord: true,
  batchContext: context,
});
