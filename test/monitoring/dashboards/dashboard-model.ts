/** A query of a panel. */
interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly interval: string;
  readonly datasource: unknown;
}

/** A panel, or the title of a row, in Grafana's model. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource: unknown;
  readonly targets: readonly Target[];
  readonly options?: { readonly textMode?: string };
  readonly fieldConfig: {
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options: string };
      readonly properties: readonly { readonly value: { readonly fixedColor: string } }[];
    }[];
    readonly defaults: {
      readonly unit: string;
      readonly links?: readonly { readonly url: string }[];
      readonly mappings?: readonly { readonly options: Readonly<Record<string, { readonly text: string }>> }[];
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
      readonly noValue?: string;
      readonly custom?: { readonly drawStyle: 'line' | 'bars'; readonly thresholdsStyle?: { readonly mode: string } };
    };
  };
}

/** A variable of a dashboard. */
export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly label: string;
  readonly datasource: unknown;
  readonly query: string | { readonly query: string };
  readonly regex?: string;
  readonly refresh?: number;
  readonly includeAll: boolean;
  readonly multi: boolean;
  readonly allValue?: string;
}

/** A dashboard as Grafana imports it, as far as tests look into it. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

/** The panels that draw something. */
export const drawnPanels = ({ panels }: Dashboard): Panel[] => panels.filter(({ type }) => type !== 'row');

/** PromQL that a variable asks for its values. */
export const variableQuery = ({ query }: Variable): string => (typeof query === 'string' ? query : query.query);
