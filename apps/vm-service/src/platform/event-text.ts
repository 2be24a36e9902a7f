/** An event as text. @param id where a client continues after it */
export const eventText = (name: string, data: unknown, id?: string): string =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
