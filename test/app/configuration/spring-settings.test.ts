// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { describe, expect, test } from '@jest/globals';
import { load, problems, REQUIRED, yaml } from './loading.ts';

const EXPECTED = {
  endpoints: {
    web: { exposure: { include: ['health', 'prometheus'], exclude: ['info'] }, discovery: { enabled: false } },
  },
  endpoint: {
    health: {
      'show-details': 'never',
      'show-components': 'always',
      status: { order: ['out-of-service', 'down'], 'http-mapping': { down: 500, 'out-of-service': 503 } },
      group: { custom: { include: ['db', 'diskSpace'], 'show-details': 'never', status: { order: ['down', 'up'] } } },
      probes: { enabled: true, 'add-additional-paths': true },
    },
  },
};

const KEBAB = `
management:
  endpoints:
    web:
      exposure: { include: "health,prometheus", exclude: info }
      discovery.enabled: false
  endpoint:
    health:
      show-details: never
      show-components: ALWAYS
      status: { order: "OUT_OF_SERVICE,down", http-mapping: { down: 500, out-of-service: 503 } }
      group:
        custom: { include: [db, diskSpace], show-details: never, status.order: "down, up" }
      probes.add-additional-paths: true
`;

const CAMEL = KEBAB.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const SNAKE = KEBAB.replaceAll(/([a-z])-([a-z])/g, '$1_$2');

const DOTTED = `
management.endpoints.web.exposure.include: health, prometheus
management.endpoints.web.exposure.exclude: info
management.endpoints.web.discovery.enabled: "false"
management.endpoint.health.show-details: never
management.endpoint.health.show-components: always
management.endpoint.health.status.order: out-of-service,down
management.endpoint.health.status.http-mapping.down: 500
management.endpoint.health.status.http-mapping.out-of-service: 503
management.endpoint.health.group.custom.include: db,diskSpace
management.endpoint.health.group.custom.show-details: never
management.endpoint.health.group.custom.status.order: down,up
management.endpoint.health.probes.add-additional-paths: true
`;

describe("a Spring Boot service's settings of the operational interface", () => {
  test.each([
    ['kebab-case', KEBAB],
    ['camelCase', CAMEL],
    ['snake_case', SNAKE],
    ['dotted keys', DOTTED],
  ])('are taken in %s', (_form, text) => {
    expect(load({ cwd: yaml(text) }).management).toMatchObject(EXPECTED);
  });

  test.each([
    ['with an underscore at each dash', (name: string) => name],
    ["in Spring's own form", (name: string) => name.replace(/(?<=SHOW|ADD|ADDITIONAL|HTTP|OUT|OF)_/g, '')],
  ])('are taken from the environment %s', (_form, spell) => {
    const health = 'MANAGEMENT_ENDPOINT_HEALTH';
    const env = {
      MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_INCLUDE: 'health,prometheus',
      MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_EXCLUDE_0: 'info',
      MANAGEMENT_ENDPOINTS_WEB_DISCOVERY_ENABLED: 'false',
      [spell(`${health}_SHOW_DETAILS`)]: 'never',
      [spell(`${health}_SHOW_COMPONENTS`)]: 'ALWAYS',
      [`${health}_STATUS_ORDER`]: 'OUT_OF_SERVICE,DOWN',
      [spell(`${health}_STATUS_HTTP_MAPPING_DOWN`)]: '500',
      [spell(`${health}_STATUS_HTTP_MAPPING_OUT_OF_SERVICE`)]: '503',
      [`${health}_GROUP_CUSTOM_INCLUDE_0`]: 'db',
      [`${health}_GROUP_CUSTOM_INCLUDE_1`]: 'diskSpace',
      [spell(`${health}_GROUP_CUSTOM_SHOW_DETAILS`)]: 'never',
      [`${health}_GROUP_CUSTOM_STATUS_ORDER`]: 'down,up',
      [spell(`${health}_PROBES_ADD_ADDITIONAL_PATHS`)]: 'true',
    };
    expect(load({ env: { ...REQUIRED, ...env } }).management).toMatchObject(EXPECTED);
  });

  test('are by default: all endpoints, all details, both probe groups, nothing at additional paths', () => {
    expect(load({}).management).toMatchObject({
      endpoints: { web: { exposure: { include: ['*'], exclude: [] }, discovery: { enabled: true } } },
      endpoint: {
        health: { 'show-details': 'always', group: {}, probes: { enabled: true, 'add-additional-paths': false } },
      },
    });
  });

  test('may name a group as it likes, dots excepted', () => {
    const cwd = yaml('management.endpoint.health.group: { on-Call: { include: db }, on_call.include: ping }');
    const { group } = load({ cwd }).management.endpoint.health;
    expect(Object.entries(group).map(([name, { include }]) => [name, include])).toEqual([
      ['on-Call', ['db']],
      ['on_call', ['ping']],
    ]);
  });
});

describe('wrong settings of the operational interface', () => {
  test.each([
    [
      'an unknown member of a group',
      'management.endpoint.health.group.custom.include: [db, dbb]',
      'management.endpoint.health.group.custom.include[1]',
      'one of consumer, db, diskSpace, kafka, livenessState, ping, readinessState, schemaRegistry, *',
    ],
    [
      'a member that the probes would have brought',
      'management.endpoint.health: { probes.enabled: false, group.custom.exclude: readinessState }',
      'management.endpoint.health.group.custom.exclude[0]',
      'one of consumer, db, diskSpace, kafka, ping, schemaRegistry, *',
    ],
    [
      'an unknown endpoint',
      'management.endpoints.web.exposure.include: health,env',
      'management.endpoints.web.exposure.include[1]',
      'one of health, info, metrics, prometheus, *',
    ],
    [
      'a path taken twice',
      'management.endpoint.health.group: { a.additional-path: "server:/x", b.additional-path: "management:/x" }',
      'management.endpoint.health.group.b.additional-path',
      'another path',
    ],
    [
      'an HTTP status that is none',
      'management.endpoint.health.status.http-mapping.down: 99',
      'management.endpoint.health.status.http-mapping.down',
      'a whole number from 200 to 599',
    ],
  ])('are refused with what is allowed: %s', (_what, text, path, allowed) => {
    expect(problems({ cwd: yaml(text) })).toMatchObject([{ path, allowed, source: expect.any(String) }]);
  });

  test.each([
    ['management.endpoint.health.show-detail: never', 'management.endpoint.health.show-details'],
    ['management.endpoint.health.group.custom.includes: db', 'management.endpoint.health.group.custom.include'],
    ['management.endpoint.health.status.http-mapping.fatal: 500', undefined],
  ])('name the nearest known key: %s', (text, nearest) => {
    const [problem] = problems({ cwd: yaml(text) });
    expect([problem?.message, problem?.nearest]).toEqual(['is not a known key', nearest]);
  });
});

describe('info', () => {
  test('is free in its form, with dots for levels and placeholders anywhere', () => {
    const cwd = yaml(
      'info:\n  app: { name: Orders, port: 8080 }\n  app.owner: team-a\n  links: [{ href: "http://${HOST:h}/x" }, b]\ninfo.note: n',
    );
    expect(load({ cwd }).info).toEqual({
      app: { name: 'Orders', port: '8080', owner: 'team-a' },
      links: [{ href: 'http://h/x' }, 'b'],
      note: 'n',
    });
  });

  test('takes the environment, an underscore for each level', () => {
    const cwd = yaml('info: { app: { name: a, owner: b } }');
    expect(load({ cwd, env: { ...REQUIRED, INFO_APP_NAME: 'c', INFO_NOTE: 'd' } }).info).toEqual({
      app: { name: 'c', owner: 'b' },
      note: 'd',
    });
  });

  test('has no name that changes every object', () => {
    const { info } = load({
      cwd: yaml('info: { __proto__: { polluted: x } }\ninfo.constructor.prototype.polluted: x'),
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(info)).toContain('constructor');
  });
});
