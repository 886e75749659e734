import { nmap } from '../../../src/importers/formats/nmap/nmap.ts';
import { describeFormat } from '../format-harness.ts';

describeFormat(nmap);
