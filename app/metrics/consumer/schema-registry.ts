import { SCHEMA_REQUEST_OUTCOMES, type SchemaRequestOutcome } from '../../../contract/metrics/definition.ts';
import { type ConsumerReport, oldestSchemaWait } from '../../stream/partition/consumer-state.ts';
import { LabelledCounts, type MetricSources, optional } from '../exposition/metric-source.ts';

/** Requests to the schema registry, what is kept of it, and what waits for it. */
export class SchemaMetrics {
  readonly #requests = new LabelledCounts('outcome', SCHEMA_REQUEST_OUTCOMES);
  readonly #report: () => ConsumerReport;
  readonly #kept: () => number | null;

  /** @param kept how many schemas are kept; `null` where the settings have no registry, of which there is no series */
  constructor(report: () => ConsumerReport, kept: () => number | null) {
    this.#report = report;
    this.#kept = kept;
  }

  /** The registry answered, or did not. */
  answered(outcome: SchemaRequestOutcome): void {
    this.#requests.add(outcome);
  }

  get sources(): Pick<MetricSources, 'schemaRequests' | 'schemaWait' | 'schemas'> {
    return {
      schemaRequests: () => (this.#kept() === null ? [] : this.#requests.source()),
      schemaWait: optional(() => (this.#kept() === null ? null : this.#waitSeconds())),
      schemas: optional(this.#kept),
    };
  }

  #waitSeconds(): number {
    const since = oldestSchemaWait(this.#report().partitions);
    return since === null ? 0 : Math.max(0, Date.now() - since.getTime()) / 1_000;
  }
}
