import { masscan } from '../../../src/importers/formats/masscan/masscan.ts';
import { describeFormat } from '../format-harness.ts';

describeFormat(masscan);
