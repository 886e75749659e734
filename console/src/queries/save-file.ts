/** Begins a CSV for spreadsheets, which otherwise read it in the encoding of the machine. */
export const BYTE_ORDER_MARK = '\u{FEFF}';

/** Saves a file that was fetched with the access token, which a plain link could not send. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
