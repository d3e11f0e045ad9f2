import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Schema } from './leaf-schemas.ts';

interface Case {
  readonly schema: Schema;
  /** With the branches of unions by their names, as avsc has them; longs as bigint. */
  readonly value: unknown;
}

/** Encodes values of Avro by another implementation. */
export class AvscOracle {
  readonly #process: ChildProcess = fork(join(import.meta.dirname, 'avsc-process.ts'), [], {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });

  readonly #exited = new AbortController();

  constructor() {
    this.#process.once('exit', (code) => this.#exited.abort(new Error(`avsc's process has exited: ${code}`)));
  }

  async encode(cases: readonly Case[]): Promise<readonly Buffer[]> {
    const answer = once(this.#process, 'message', { signal: this.#exited.signal });
    this.#process.send(cases);
    const [encoded] = (await answer) as [readonly Uint8Array[]];
    return encoded.map((bytes) => Buffer.from(bytes));
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
