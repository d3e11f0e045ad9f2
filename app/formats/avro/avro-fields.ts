import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { SchemaUnits } from '../../tables/json/connect-schema.ts';
import { isEqual, NO_NODE } from '../../tables/json/field-tree.ts';
import type { JsonSlice, ValueKind } from '../../tables/json/json-slice.ts';
import { isOfTime } from '../../tables/json/time-text.ts';
import type { ValueUnit } from '../../tables/mapping/table-mapping.ts';
import { DecodeFault } from '../parts/decode-fault.ts';
import { FoundParts, NO_BYTES } from '../parts/found-parts.ts';
import { TextScratch } from '../parts/text-scratch.ts';
import { AvroCursor } from './avro-cursor.ts';
import { type AvroProgram, type Step, unitOfType } from './avro-program.ts';
import { type AvroKind, type AvroType, MAP_KEY } from './avro-type.ts';
import { JsonWriter } from './json-writer.ts';
import { passPart, passValue } from './pass-value.ts';
import { writeScalar } from './scalar-writer.ts';

const BYTES_BEHIND = new DecodeFault('bytes follow it');

/** By what the whole value is. Whether a boolean is true is of no meaning for it, nor whether a number is finite. */
const KIND_OF_WHOLE: Readonly<Record<AvroKind, ValueKind>> = {
  ...{ null: 'null', boolean: 'true', int: 'number', long: 'number', float: 'number', double: 'number' },
  ...{ bytes: 'string', string: 'text', record: 'object', enum: 'text', array: 'list', map: 'object' },
  ...{ fixed: 'string', union: 'null', decimal: 'number', uuid: 'text', duration: 'text' },
};

/**
 * The parts of values of Avro that a table takes, as slices of the value's bytes or of the reader's memory: strings
 * where they are, numbers by all their digits, and records, arrays and maps as JSON. The reader makes no object of a
 * value, and passes over what no path leads to. One reader is for all schemas whose programs have the same paths.
 *
 * Bytes that do not follow their schema are refused, whatever they are: {@link AvroCursor} has the limits.
 */
export class AvroFields {
  readonly #cursor = new AvroCursor();
  readonly #scratch = new TextScratch();
  readonly #json = new JsonWriter(this.#cursor, this.#scratch);
  readonly #found = new FoundParts<AvroType>();
  #program: AvroProgram | null = null;
  #bytes: Buffer = NO_BYTES;
  #end = 0;
  #kind: ValueKind = 'null';
  #unmapped = 0;
  /** The row, and where keys of it are that no path begins with, if it is a map. */
  #row: Step | null = null;
  #newKeys: number[] = [];
  #words: string | undefined;

  /**
   * Reads the bytes from `start` up to `end`, which are all of a value. @returns why they are none of the schema;
   * `null` when they are
   */
  read(program: AvroProgram, bytes: Buffer, start: number, end: number): DeadLetterReason | null {
    this.#begin(program, bytes, start, end);
    try {
      this.#whole(program.root);
    } catch (error) {
      if (!(error instanceof DecodeFault)) {
        throw error;
      }
      this.#found.begin(program.size);
      this.#unmapped = 0;
      this.#words = `its bytes are no value of the schema ${program.id}: ${error.words}`;
      return error.reason;
    }
    if (this.#unmapped > 0) {
      this.#reportUnmapped(program);
    }
    return null;
  }

  /** Why the last value was refused, for a dead letter. */
  get words(): string | undefined {
    return this.#words;
  }

  /** What the last value is. */
  get kind(): ValueKind {
    return this.#kind;
  }

  /** What the schema says of the parts, by the places of their paths. */
  get units(): SchemaUnits {
    const program = this.#program;
    return program?.units ?? Array.from(program?.nodes ?? [], (node) => this.#found.unit(node));
  }

  /** Fields of the last row that nothing takes. */
  get unmapped(): number {
    return this.#unmapped;
  }

  /** What the part at the place of a path is; `undefined` where there is none. */
  kindOf(place: number): ValueKind | undefined {
    return this.#found.kind(this.#nodeOf(place)) ?? undefined;
  }

  /** The part at the place of a path. The JSON of an object or a list is written now. */
  of(place: number): JsonSlice | undefined {
    const node = this.#nodeOf(place);
    const kind = this.#found.kind(node);
    if (kind === null) {
      return undefined;
    }
    const type = this.#found.unwritten(node);
    if (type !== null) {
      this.#writePart(node, kind, type);
    }
    return this.#found.slice(node, kind);
  }

  #nodeOf(place: number): number {
    return this.#program?.nodes[place] ?? NO_NODE;
  }

  #begin(program: AvroProgram, bytes: Buffer, start: number, end: number): void {
    this.#program = program;
    this.#bytes = bytes;
    this.#end = end;
    this.#cursor.begin(bytes, start, end);
    this.#scratch.clear();
    this.#found.begin(program.size);
    this.#kind = 'null';
    this.#unmapped = 0;
    this.#row = null;
    if (this.#newKeys.length > 0) {
      this.#newKeys = [];
    }
    this.#words = undefined;
  }

  #whole(root: Step): void {
    const step = root.type.kind === 'union' ? this.#cursor.oneOf(root.branches) : root;
    this.#kind = KIND_OF_WHOLE[step.type.kind];
    this.#walk(step);
    if (!this.#cursor.isAtEnd) {
      throw BYTES_BEHIND;
    }
  }

  #walk(step: Step): void {
    switch (step.type.kind) {
      case 'union':
        this.#walk(this.#cursor.oneOf(step.branches));
        return;
      case 'record':
        this.#record(step);
        return;
      case 'array':
      case 'map':
        this.#items(step);
        return;
      default:
        if (step.node === NO_NODE) {
          this.#pass(step.type, step.isPart);
        } else {
          this.#scalar(step.type, step.node);
        }
    }
  }

  #pass(type: AvroType, isPart: boolean): void {
    if (isPart) {
      passPart(this.#cursor, type);
    } else {
      passValue(this.#cursor, type);
    }
  }

  /** Notes where a part begins that may be asked for. */
  #part({ type, node }: Step, kind: ValueKind): void {
    if (node !== NO_NODE) {
      this.#found.putUnwritten(node, kind, type, this.#cursor.at);
      this.#noteUnit(node, unitOfType(type));
    }
  }

  /** Where the schema alone does not say it. */
  #noteUnit(node: number, unit: ValueUnit | undefined): void {
    if (this.#program?.units === null) {
      this.#found.setUnit(node, unit);
    }
  }

  #record(step: Step): void {
    const { type, fields, isPart } = step;
    const cursor = this.#cursor;
    this.#part(step, 'object');
    const start = cursor.enter();
    for (let nth = 0; nth < fields.length; nth += 1) {
      const field = fields[nth] ?? null;
      if (field === null) {
        this.#pass(type.fields[nth]?.type ?? type, isPart);
      } else {
        this.#walk(field);
      }
    }
    cursor.leave(start);
    this.#unmapped += step.unmapped.length;
    this.#row = step.isRow ? step : this.#row;
  }

  #items(step: Step): void {
    const { type } = step;
    const cursor = this.#cursor;
    const isMap = type.kind === 'map';
    this.#part(step, isMap ? 'object' : 'list');
    const start = cursor.enter();
    let position = 0;
    for (let left = cursor.block(); left > 0; left = cursor.block()) {
      for (; left > 0; left -= 1) {
        const before = cursor.at;
        const item = isMap ? this.#entry(step) : (step.positions?.get(position) ?? null);
        if (item === null) {
          this.#pass(type.items, step.isPart);
        } else {
          this.#walk(item);
        }
        position += 1;
        cursor.endItem(before);
      }
    }
    cursor.leave(start);
  }

  /** Reads the key of an entry of a map. @returns what its value is to a path */
  #entry({ entries, isPart, isRow }: Step): Step | null {
    const cursor = this.#cursor;
    this.#pass(MAP_KEY, isPart || isRow);
    const { bytes, from, to } = cursor;
    const entry = entries.find(({ key }) => isEqual(key, bytes, from, to));
    if (entry !== undefined) {
      this.#found.forget(entry.firstNode, entry.lastBelow);
      return entry.step;
    }
    if (isRow) {
      this.#unmapped += 1;
      if (this.#program?.names.isFull === false) {
        this.#newKeys.push(from, to);
      }
    }
    return null;
  }

  #scalar(type: AvroType, node: number): void {
    const cursor = this.#cursor;
    const found = this.#found;
    this.#noteUnit(node, type.unit);
    switch (type.kind) {
      case 'string':
        found.putText(node, cursor, cursor.string());
        return;
      case 'null':
        found.putWord(node, 'null');
        return;
      case 'boolean':
        found.putWord(node, cursor.boolean() ? 'true' : 'false');
        return;
      case 'enum': {
        const symbol = cursor.oneOf(type.symbols);
        found.put(node, 'text', symbol, 0, symbol.length);
        return;
      }
      default:
        this.#written(type, node);
    }
  }

  /** A value whose text has to be written. */
  #written(type: AvroType, node: number): void {
    const scratch = this.#scratch;
    scratch.begin();
    const kind = writeScalar(this.#cursor, scratch, type);
    this.#found.put(node, kind, scratch.bytes, scratch.start, scratch.end);
  }

  #writePart(node: number, kind: ValueKind, type: AvroType): void {
    const scratch = this.#scratch;
    this.#cursor.begin(this.#bytes, this.#found.start(node), this.#end);
    scratch.begin();
    this.#json.write(type, type.kind === 'array' && isOfTime(unitOfType(type)));
    this.#found.put(node, kind, scratch.bytes, scratch.start, scratch.end);
  }

  #reportUnmapped({ names }: AvroProgram): void {
    for (const name of this.#row?.unmapped ?? []) {
      names.add(name);
    }
    for (let at = 0; at < this.#newKeys.length && !names.isFull; at += 2) {
      names.add(this.#bytes.toString('utf8', this.#newKeys[at], this.#newKeys[at + 1]));
    }
  }
}
