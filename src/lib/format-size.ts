const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** @returns a number of bytes in the largest unit that gives a whole number: `1 GiB`, `1500 bytes` */
export function formatSize(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1024 && size % 1024 === 0 && unit < UNITS.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${size} ${UNITS[unit]}`;
}
