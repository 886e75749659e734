import { naabu } from '../../../src/importers/formats/naabu/naabu.ts';
import { describeFormat } from '../format-harness.ts';

describeFormat(naabu);
