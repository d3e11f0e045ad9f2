import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { folderWith } from '../app/configuration/folder.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

/** Templates that Prometheus refuses, by what is said of them. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'nothing closes': [
    'see {{ $labels.pod',
    '{{',
    'a {{ "}}" b',
    '{{ `}}` ',
    '{{/* }}',
    '}} {{ $value } }',
    '{{ $value }} {{',
  ],
  'without content': ['{{}}', '{{ }}', '{{- -}}'],
  'without its end': [
    '{{ if $value }}x',
    '{{ end }}',
    '{{ range query "up" }}{{ end }}{{ end }}',
    '{{ end }}{{ if $value }}',
  ],
  'does not have': ['{{ $label.pod }}', '{{ printf "%s" $pod }}'],
};

const TAKEN = [
  'no braces { } at all, and }} behind nothing',
  '{{ $labels.pod }} and {{- $value | humanize -}}',
  '{{ "{{" }} $labels {{ "}}" }} $nobody',
  "{{ printf `{{ %c` '}' }}",
  '{{ printf "$nobody" }}{{ print `$nobody` }}',
  '{{/* $nobody }} {{ */}}x',
  '{{- /* a */ -}}',
  '{{ if gt $value 1.0 }}{{ $value }}{{ else if $labels.pod }}b{{ else }}c{{ end }}',
  '{{ range $i, $each := query "up" }}{{ $i }}{{ $each.Value }}{{ end }}',
  '{{ with $a := $externalLabels.cluster }}{{ $a }}{{ end }}{{ $externalURL }}',
];

const places = [
  'alerts.annotations.note',
  'alerts.labels.note',
  'alerts.rules.ConsumerAbsent.annotations.note',
  'alerts.rules.ConsumerAbsent.labels.note',
];

function problemsOf(place: string, text: string) {
  const monitoring = place.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), text);
  const checked = checkConsumerFile(consumerDocument({ monitoring }));
  return checked.ok ? [] : checked.problems.map(({ path, message }) => ({ path, message }));
}

describe.each(places)('a template at monitoring.%s', (place) => {
  test.each(Object.entries(REFUSED).flatMap(([what, texts]) => texts.map((text) => [what, text] as const)))(
    'that Prometheus refuses is refused, because it %s: %s',
    (what, text) => {
      expect(problemsOf(place, text)).toEqual([
        { path: `monitoring.${place}`, message: expect.stringContaining(what) },
      ]);
    },
  );

  test.each(TAKEN)('that Prometheus takes is taken: %s', (text) => {
    expect(problemsOf(place, text)).toEqual([]);
  });
});

/** Those of the annotations that Prometheus itself refuses. */
function refusedByPrometheus(texts: readonly string[]): readonly string[] {
  const rules = texts.map((note) => ({ alert: 'A', expr: 'up', annotations: { note } }));
  const folder = folderWith({ 'rules.yml': JSON.stringify({ groups: [{ name: 'a', rules }] }) });
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(folder, 'rules.yml')], { encoding: 'utf8' });
  const output = stdout + stderr;
  expect(output).toContain('rules.yml');
  return texts.filter((_text, index) => output.includes(`rule ${index + 1}, "A": annotation`));
}

test('these are the templates that Prometheus refuses and takes', () => {
  const refused = Object.values(REFUSED).flat();
  expect(refusedByPrometheus([...refused, ...TAKEN])).toEqual(refused);
});
