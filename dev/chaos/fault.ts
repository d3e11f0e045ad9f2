/** Something that is done to the consumers or to what they need; `ms` is how long it lasts, in milliseconds. */
export type Fault =
  | { readonly kind: 'kill consumer'; readonly slot: number }
  | { readonly kind: 'freeze consumer'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'add consumer'; readonly slot: number }
  | { readonly kind: 'remove consumer'; readonly slot: number }
  | { readonly kind: 'restart PostgreSQL'; readonly ms: number }
  | { readonly kind: 'restart Kafka'; readonly way: 'stop' | 'crash'; readonly ms: number }
  | { readonly kind: 'cut PostgreSQL' | 'cut Kafka'; readonly ms: number }
  | { readonly kind: 'delay PostgreSQL' | 'delay Kafka'; readonly latencyMs: number; readonly ms: number }
  | { readonly kind: 'lock table'; readonly ms: number }
  | { readonly kind: 'poison burst'; readonly partition: number; readonly records: number };

export type FaultKind = Fault['kind'];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** What a fault does, for a person: `kill consumer 2 (SIGKILL); it is started again`. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'kill consumer':
      return `kill consumer ${fault.slot} (SIGKILL); it is started again`;
    case 'freeze consumer':
      return `freeze consumer ${fault.slot} (SIGSTOP) for ${seconds(fault.ms)}, then let it go on`;
    case 'add consumer':
      return `add consumer ${fault.slot}`;
    case 'remove consumer':
      return `remove consumer ${fault.slot} (SIGTERM)`;
    case 'restart PostgreSQL':
      return `restart PostgreSQL in immediate mode, away for ${seconds(fault.ms)}`;
    case 'restart Kafka':
      return `restart Kafka (${fault.way}), away for ${seconds(fault.ms)}`;
    case 'cut PostgreSQL':
    case 'cut Kafka':
      return `${fault.kind}: break its connections, refuse new ones for ${seconds(fault.ms)}`;
    case 'delay PostgreSQL':
    case 'delay Kafka':
      return `${fault.kind}: ${fault.latencyMs} ms more in each direction for ${seconds(fault.ms)}`;
    case 'lock table':
      return `lock the table records for ${seconds(fault.ms)}`;
    case 'poison burst':
      return `poison burst: ${fault.records} bad records in a row to partition ${fault.partition}`;
  }
}
