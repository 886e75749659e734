/** A browser calls every screenshot `image.png`; the time tells them apart. */
export function nameScreenshot(file: File, now = new Date()): File {
  if (!/^image\.\w+$/.test(file.name)) return file;
  const at = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return new File([file], `screenshot-${at}.${file.name.split('.').at(-1)}`, { type: file.type });
}
