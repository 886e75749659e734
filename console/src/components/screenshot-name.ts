/** Gives a screenshot a unique name; browsers call every one `image.png`. */
export function nameScreenshot(file: File, now = new Date()): File {
  if (!/^image\.\w+$/.test(file.name)) return file;
  const at = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return new File([file], `screenshot-${at}.${file.name.split('.').at(-1)}`, { type: file.type });
}
