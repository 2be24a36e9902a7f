import type { Plugin } from 'vite';

export const styleRules: Plugin;
export function styleProblems(css: string, script: string): string[];
