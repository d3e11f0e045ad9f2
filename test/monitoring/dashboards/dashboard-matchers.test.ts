import { describe, expect, test } from '@jest/globals';
import { type Dashboard, drawnPanels, variableQuery } from './dashboard-model.ts';
import { dashboards, oneConsumer } from './example-dashboards.ts';

describe('monitoring.matchers', () => {
  const matching = (matchers: object, more: object = {}) => ({ monitoring: { matchers }, ...more });
  const selectorsOf = (dashboard: Dashboard) =>
    [
      ...drawnPanels(dashboard).flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.filter(({ type }) => type === 'query').map(variableQuery),
    ].flatMap((query) => [...query.matchAll(/\{([^{}]*)\}/g)].map(([, matchers]) => matchers));

  test.each(['stream-consumer.json', 'stream-consumers.json'])(
    'are in each selector of panels and variables of %s',
    (file) => {
      const selectors = selectorsOf(dashboards(matching({ cluster: 'eu-1', region: 'we$t' }))[file] as Dashboard);
      expect(selectors.length).toBeGreaterThan(15);
      expect(selectors.filter((each) => !each?.includes('cluster="eu-1",region="we\\u0024t"'))).toEqual([]);
    },
  );

  test('give the dashboards of each cluster a name and URLs of their own', () => {
    const [eu, us] = [dashboards(matching({ cluster: 'eu-1' })), dashboards(matching({ cluster: 'us-1' }))];
    const { uid, title } = eu['stream-consumer.json'] as Dashboard;
    expect(uid).toMatch(/^stream-consumer-[0-9a-f]{10}$/);
    expect(title).toBe('Stream consumer {cluster="eu-1"}');
    const uids = [eu, us].flatMap((each) => Object.values(each)).map((each) => each.uid);
    expect(new Set(uids).size).toBe(4);
    expect(uids.filter((each) => each.length > 40)).toEqual([]);
    for (const { fieldConfig } of drawnPanels(eu['stream-consumers.json'] as Dashboard)) {
      expect(fieldConfig.defaults.links?.[0]?.url).toContain(`/d/${uid}?`);
    }
  });

  test('are those that all consumers of the dashboard have, with the values of each', () => {
    const first = matching({ cluster: 'eu.1', region: 'west' });
    const [selector] = selectorsOf(
      oneConsumer(first, matching({ cluster: 'us|1' }, { name: 'b' }), matching({ cluster: 'eu.1' }, { name: 'c' })),
    );
    expect(selector).toContain('cluster=~"eu\\\\.1|us\\\\|1"');
    expect(selector).not.toContain('region');
    expect(oneConsumer(first, { name: 'b' }).uid).toBe('stream-consumer');
    expect(oneConsumer(first, { ...first, name: 'b' }).uid).toBe(oneConsumer(first).uid);
  });
});
