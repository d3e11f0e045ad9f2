import { describe, expect, test } from '@jest/globals';
import { Screen } from '../../../dev/run/screen.ts';

function screenOn({ isTTY, columns = 80, noColour = '' }: { isTTY: boolean; columns?: number; noColour?: string }) {
  const written: string[] = [];
  const clock = { now: 0 };
  const terminal = { isTTY, columns, write: (text: string) => written.push(text) };
  return { screen: new Screen(terminal, () => clock.now, noColour), clock, text: () => written.join('') };
}

const CLEAR = '\r\u001b[2K';

describe('a screen', () => {
  test('rewrites the status in place on a terminal, below the lines that stay', () => {
    const { screen, text } = screenOn({ isTTY: true });
    screen.status('one');
    screen.line('stays');
    screen.status('two');
    screen.endStatus();
    expect(text()).toBe(`${CLEAR}one${CLEAR}stays\none${CLEAR}two\n`);
  });

  test('cuts the status where the terminal would break the line', () => {
    const { screen, text } = screenOn({ isTTY: true, columns: 5 });
    screen.status('123456');
    expect(text()).toBe(`${CLEAR}1234`);
  });

  test('shows a status of trouble in red, however short it is cut', () => {
    const { screen, text } = screenOn({ isTTY: true, columns: 5 });
    screen.status('123456', false);
    expect(text()).toBe(`${CLEAR}\u001b[31m1234\u001b[39m`);
  });

  test('does not cut it on a terminal that does not know its width', () => {
    const { screen, text } = screenOn({ isTTY: true, columns: 0 });
    screen.status('123456');
    expect(text()).toBe(`${CLEAR}123456`);
  });

  test('prints the status elsewhere as a plain line every five seconds', () => {
    const { screen, clock, text } = screenOn({ isTTY: false });
    for (clock.now = 0; clock.now <= 6_000; clock.now += 1_000) {
      screen.status(`at ${clock.now}`);
    }
    screen.endStatus();
    expect(text()).toBe('at 0\nat 5000\n');
  });

  test.each([
    { isTTY: true, noColour: '', coloured: true },
    { isTTY: true, noColour: '1', coloured: false },
    { isTTY: false, noColour: '', coloured: false },
  ])('colours only on a terminal and not against NO_COLOR: %j', ({ coloured, ...terminal }) => {
    const { screen } = screenOn(terminal);
    expect(screen.tint('ok', true).includes('\u001b[')).toBe(coloured);
    expect(screen.accent('npm start').includes('\u001b[')).toBe(coloured);
  });
});
