/** Hands a file to the person, as a download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Not at once: the browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** For file names: the moment without what file systems refuse. */
export const stamp = (date: Date): string => date.toISOString().slice(0, 19).replaceAll(':', '-');
