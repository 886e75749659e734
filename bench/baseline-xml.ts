import { createReadStream } from 'node:fs';
import { SaxesParser } from 'saxes';

/** Parses a file and discards the result: the baseline of imports. */
const parser = new SaxesParser();
parser.on('error', (error) => {
  throw error;
});
let elements = 0;
parser.on('opentag', () => (elements += 1));
for await (const chunk of createReadStream(process.argv[2] ?? '', {
  encoding: 'utf8',
  highWaterMark: 1 << 20,
})) {
  parser.write(chunk as string);
}
parser.close();
console.log(elements);
