import type { Plugin } from 'vite';

export const dropUnusedProperties: Plugin;
/** @returns the style sheet without the custom properties that neither it nor the script reads */
export function withoutUnusedProperties(css: string, script: string): string;
