import type { TextRule } from './shape.js';

const VERSION = /^(?:0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5})){2}$/;

export const VERSION_TEXT: TextRule = { test: (text) => VERSION.test(text), rule: 'a version such as 1.0.2' };

/** Negative when the first version is older than the second one. */
export function compareVersions(first: string, second: string): number {
  const [left, right] = [first, second].map((text) => text.split('.').map(Number));
  const differing = left?.findIndex((part, index) => part !== right?.[index]) ?? -1;
  return differing < 0 ? 0 : (left?.[differing] ?? 0) - (right?.[differing] ?? 0);
}
