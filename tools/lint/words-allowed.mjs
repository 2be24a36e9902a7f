/**
 * Places where a word of the list is right, each with the reason. `file` is a path or the beginning of one, `text` a part of the line.
 * @type {{ file: string, rule: string, text?: string, reason: string }[]}
 */
export const allowed = [];
