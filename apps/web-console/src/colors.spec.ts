import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const css = readFileSync(join(import.meta.dirname, 'app/styles/tokens.css'), 'utf8');

/** The colors of the style sheet by name, for the light and the dark theme. */
const colors = new Map(
  [...css.matchAll(/--hg-([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, light, dark]) => [
    name as string,
    { light: light as string, dark: dark as string },
  ]),
);

/** The relative luminance of WCAG 2.2, of a color such as `#fff` or `#16181d`. */
function luminance(color: string): number {
  const digits = color.length === 4 ? [...color.slice(1)].map((digit) => digit + digit) : color.slice(1).match(/../g)!;
  const [red, green, blue] = digits.map((pair) => {
    const share = parseInt(pair, 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

const TEXTS = ['text', 'second', 'quiet', 'accent', 'success', 'neutral', 'progress', 'warning', 'danger'];
const GROUNDS = ['ground', 'surface', 'raised', 'hover', 'sunken', 'accent-tint'];
const MARKS = [
  'success-mark',
  'neutral-mark',
  'progress-mark',
  'warning-mark',
  'danger-mark',
  'accent-ground',
  'series',
];

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  const color = (name: string): string => {
    const found = colors.get(name);
    if (!found) throw new Error(`The style sheet has no color ${name}.`);
    return found[theme];
  };

  test.each(TEXTS.flatMap((text) => GROUNDS.map((ground) => [text, ground] as const)))(
    'text of the color %s can be read on %s',
    (text, ground) => expect(contrast(color(text), color(ground))).toBeGreaterThanOrEqual(4.5),
  );

  test.each(['accent-ground', 'danger-ground'])('white text can be read on %s', (ground) =>
    expect(contrast('#fff', color(ground))).toBeGreaterThanOrEqual(4.5),
  );

  test.each(MARKS.flatMap((mark) => GROUNDS.map((ground) => [mark, ground] as const)))(
    'a mark of the color %s can be seen on %s',
    (mark, ground) => expect(contrast(color(mark), color(ground))).toBeGreaterThanOrEqual(3),
  );

  test.each(GROUNDS.slice(0, 3))('the edge of an input can be seen on %s', (ground) =>
    expect(contrast(color('edge'), color(ground))).toBeGreaterThanOrEqual(3),
  );
});

test('the contrast is that of WCAG', () => {
  expect(contrast('#000', '#fff')).toBe(21);
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
});
