import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { NO_UNITS, type SchemaUnits } from '../../tables/json/connect-schema.ts';
import { NO_NODE } from '../../tables/json/field-tree.ts';
import type { JsonSlice, ValueKind } from '../../tables/json/json-slice.ts';
import { DecodeFault } from '../parts/decode-fault.ts';
import { FoundParts } from '../parts/found-parts.ts';
import { TextScratch } from '../parts/text-scratch.ts';
import { PartFinder } from './part-finder.ts';
import { ProtoCursor } from './proto-cursor.ts';
import type { ProtoProgram } from './proto-program.ts';

/**
 * The parts of values of Protobuf that a table takes, as slices of the value's bytes or of the reader's memory: strings
 * where they are, numbers by all their digits, and messages, lists and maps as JSON. The reader makes no object of a
 * value, and passes over what no path leads to. One reader is for all schemas whose programs have the same paths.
 *
 * Fields are in any order. Of a single one the last value counts, and the pieces of a message are put together. What
 * the schema does not have is passed over. Bytes that a field of the schema cannot have are refused.
 */
export class ProtoFields {
  readonly #cursor = new ProtoCursor();
  readonly #scratch = new TextScratch();
  readonly #found = new FoundParts();
  readonly #finder = new PartFinder(this.#cursor, this.#scratch, this.#found);
  #program: ProtoProgram | null = null;
  #unmapped = 0;
  #words: string | undefined;

  /**
   * Reads the bytes from `start` up to `end`, which are all of a value. @returns why they are none of the schema;
   * `null` when they are
   */
  read(program: ProtoProgram, bytes: Buffer, start: number, end: number): DeadLetterReason | null {
    this.#program = program;
    this.#cursor.begin(bytes, start, end);
    this.#scratch.clear();
    this.#found.begin(program.size);
    this.#unmapped = 0;
    this.#words = undefined;
    try {
      this.#finder.find(program, start, end);
    } catch (error) {
      if (!(error instanceof DecodeFault)) {
        throw error;
      }
      this.#found.begin(program.size);
      this.#words = `its bytes are no ${program.root.field.message?.name} of the schema ${program.id}: ${error.words}`;
      return error.reason;
    }
    this.#countUnmapped(program);
    return null;
  }

  /** Why the last value was refused, for a dead letter. */
  get words(): string | undefined {
    return this.#words;
  }

  /** What the last value is. */
  get kind(): ValueKind {
    return this.#found.kind(0) ?? 'object';
  }

  /** What the schema says of the parts, by the places of their paths. */
  get units(): SchemaUnits {
    return this.#program?.units ?? NO_UNITS;
  }

  /** Fields of the last row that nothing takes. */
  get unmapped(): number {
    return this.#unmapped;
  }

  /** What the part at the place of a path is; `undefined` where there is none. */
  kindOf(place: number): ValueKind | undefined {
    return this.#found.kind(this.#nodeOf(place)) ?? undefined;
  }

  /** The part at the place of a path. */
  of(place: number): JsonSlice | undefined {
    const node = this.#nodeOf(place);
    const kind = this.#found.kind(node);
    return kind === null ? undefined : this.#found.slice(node, kind);
  }

  #nodeOf(place: number): number {
    return this.#program?.nodes[place] ?? NO_NODE;
  }

  #countUnmapped({ names }: ProtoProgram): void {
    const { row, unknown } = this.#finder;
    if (row === null) {
      return;
    }
    this.#unmapped = row.unmapped.length + unknown.length;
    for (const name of row.unmapped) {
      names.add(name);
    }
    for (const number of unknown) {
      names.add(`#${number}`);
    }
  }
}
