import { crc32, deflateSync } from 'node:zlib';
import { isDark, LETTER } from './letters.ts';

const [WIDTH, HEIGHT] = [720, 400];
const COLOURS = {
  white: [255, 255, 255],
  mist: [236, 239, 243],
  line: [201, 208, 217],
  ink: [35, 43, 56],
  sea: [31, 92, 153],
  alarm: [200, 38, 38],
};
type Colour = keyof typeof COLOURS;
const PLACES = Object.keys(COLOURS) as Colour[];

/**
 * Draws what a browser window might show.
 * @param lines of the page; those that begin with `!` are framed in red
 * @returns a PNG (W3C, PNG specification)
 */
export function screenshot(address: string, heading: string, lines: readonly string[]): Buffer {
  const canvas = new Canvas();
  canvas.box(0, 0, WIDTH, 36, 'mist');
  for (const [index, colour] of (['alarm', 'line', 'line'] as const).entries())
    canvas.box(12 + index * 16, 14, 9, 9, colour);
  canvas.box(70, 8, WIDTH - 86, 20, 'white');
  canvas.text(78, 13, address, 2, 'ink');
  canvas.box(0, 36, WIDTH, 48, 'sea');
  canvas.text(20, 52, heading, 3, 'white');
  for (const [index, line] of lines.entries()) {
    const [y, marked] = [108 + index * 28, line.startsWith('!')];
    if (marked) canvas.frame(14, y - 8, WIDTH - 28, 26, 'alarm');
    else canvas.box(20, y + 16, WIDTH - 40, 1, 'line');
    canvas.text(24, y, marked ? line.slice(1) : line, 2, 'ink');
  }
  return canvas.png();
}

class Canvas {
  /** A row begins with its filter, which is none. */
  readonly #rows = Buffer.alloc((WIDTH + 1) * HEIGHT);

  box(left: number, top: number, width: number, height: number, colour: Colour): void {
    const place = PLACES.indexOf(colour);
    const end = Math.min(left + width, WIDTH);
    for (let y = top; y < Math.min(top + height, HEIGHT); y += 1)
      this.#rows.fill(place, y * (WIDTH + 1) + 1 + left, y * (WIDTH + 1) + 1 + end);
  }

  frame(left: number, top: number, width: number, height: number, colour: Colour): void {
    this.box(left, top, width, 2, colour);
    this.box(left, top + height - 2, width, 2, colour);
    this.box(left, top, 2, height, colour);
    this.box(left + width - 2, top, 2, height, colour);
  }

  text(left: number, top: number, text: string, scale: number, colour: Colour): void {
    const step = (LETTER.width + 1) * scale;
    const letters = Array.from(text).slice(0, Math.floor((WIDTH - left - 20) / step));
    for (const [index, letter] of letters.entries())
      for (let y = 0; y < LETTER.height; y += 1)
        for (let x = 0; x < LETTER.width; x += 1)
          if (isDark(letter, x, y))
            this.box(left + index * step + x * scale, top + y * scale, scale, scale, colour);
  }

  png(): Buffer {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(WIDTH, 0);
    header.writeUInt32BE(HEIGHT, 4);
    // Eight bits a pixel, each the place of a colour in the palette.
    header.set([8, 3, 0, 0, 0], 8);
    return Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      chunk('IHDR', header),
      chunk('PLTE', Buffer.from(PLACES.flatMap((colour) => COLOURS[colour]))),
      chunk('IDAT', deflateSync(this.#rows)),
      chunk('IEND', Buffer.alloc(0)),
    ]);
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
