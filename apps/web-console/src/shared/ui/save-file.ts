/** Offers a file as a download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser reads the URL after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A UTC time for file names, without characters that file systems reject. */
export const fileTimestamp = (date: Date): string => date.toISOString().slice(0, 19).replaceAll(':', '-');
