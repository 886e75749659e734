import { httpx } from '../../../src/importers/formats/httpx/httpx.ts';
import { describeFormat } from '../format-harness.ts';

describeFormat(httpx);
