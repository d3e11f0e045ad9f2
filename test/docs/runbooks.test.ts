import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ALERTS } from '../../contract/alerts.ts';

const FOLDER = 'docs/runbooks';
const runbook = (alert: string): string => readFileSync(join(FOLDER, `${alert}.md`), 'utf8');

/** Queries in the text of a runbook: what it asks Prometheus, in backquotes on the line that says so. */
const queriesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('Is it over?'))
    .flatMap((line) => [...line.matchAll(/`([^`]*[a-z]_[^`]*|[^`]*\(up\))`/g)].map(([, query]) => query ?? ''));

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

test('there is a runbook for each alert, and none besides', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(
    Object.keys(ALERTS)
      .map((alert) => `${alert}.md`)
      .toSorted(),
  );
});

describe.each(Object.keys(ALERTS))('%s', (alert) => {
  test('says what it means, its impact, what to do first, when it is over, what it can be, whom to tell', () => {
    const text = runbook(alert);
    const parts = ['**What it means.**', '**Impact.**', '## First five minutes', 'Is it over?', '## What it can be'];
    const places = [...parts, '## Escalation'].map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places.toSorted((one, other) => one - other)).toEqual(places);
  });

  test('asks Prometheus whether it is over', () => {
    expect(queriesIn(runbook(alert)).length).toBeGreaterThan(0);
  });
});

(hasPromtool || process.env['CI'] === 'true' ? test : test.skip)('every query is one to Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
  const queries = Object.keys(ALERTS).flatMap((alert) => queriesIn(runbook(alert)));
  const rules = queries.map((expr, nth) => ({ record: `query:${nth}`, expr }));
  writeFileSync(join(folder, 'queries.yml'), stringify({ groups: [{ name: 'queries', rules }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', 'queries.yml'], { cwd: folder });
  rmSync(folder, { recursive: true });
  expect({ status, output: status === 0 ? '' : `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
});
