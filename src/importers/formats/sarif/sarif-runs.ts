import { arrayOf, type JsonObject, asJsonObject, numberOf, textOf } from '../../parsing/json-values.ts';
import type { JsonMatch } from '../../parsing/json-stream.ts';
import { sanitizeText, truncateText } from '../../normalize-finding.ts';
import { parseTime } from '../../parsing/parse-time.ts';
import { SarifComponents } from './sarif-components.ts';
import { SarifLocations } from './sarif-locations.ts';
import type { SarifRule } from './sarif-rules.ts';

/** Characters of the name of a tool. */
const MAX_NAME = 200;

/** The members of a taxonomy, and of a tool or extension, that are read. */
const TAXONOMY_PATHS = ['name', 'guid', 'taxa.*.id', 'taxa.*.guid'];
const COMPONENT_PATHS = [...TAXONOMY_PATHS, 'rules.*', 'globalMessageStrings.*'];
const COMPONENT = /^runs\.\*\.(?:tool\.driver|tool\.extensions\.\*|taxonomies\.\*)\./;

/**
 * The parts of a run that are read before its results. Notifications and file contents can be large and are skipped.
 */
export const RUN_PATHS = [
  ...COMPONENT_PATHS.map((path) => `tool.driver.${path}`),
  ...COMPONENT_PATHS.map((path) => `tool.extensions.*.${path}`),
  ...TAXONOMY_PATHS.map((path) => `taxonomies.*.${path}`),
  'automationDetails.id',
  'originalUriBaseIds.*',
  'invocations.*.executionSuccessful',
  'invocations.*.startTimeUtc',
  'invocations.*.endTimeUtc',
  'invocations.*.workingDirectory.uri',
  'invocations.*.ruleConfigurationOverrides.*',
  'artifacts.*.location.uri',
  'artifacts.*.location.uriBaseId',
  'artifacts.*.parentIndex',
  'logicalLocations.*.name',
  'logicalLocations.*.fullyQualifiedName',
  'logicalLocations.*.parentIndex',
].map((path) => `runs.*.${path}`);

const MAX_TEXT = 16_384;
/** Characters of rules, names and paths per run. */
const MAX_BUFFERED = 24 * 1024 * 1024;
/** The part of `automationDetails.id` that differs per run: a date, a number or a UUID (section 3.17.3). */
const RUN_SUFFIX = /\/(?:\d[\d:.TZ_-]*|[\da-f]{8,}(?:-[\da-f]{4,})*)?$/i;

/** The list of rules, which may be empty. */
export const RULES = 'runs.*.tool.driver.rules';
/** Rules per run whose scan scope is recorded. */
const MAX_RULES = 20_000;

/** The metadata of a run (section 3.14). */
export class SarifRun {
  source: string | undefined;
  scannedAt: number | undefined;
  #failed = false;
  #toolOffset: number | undefined;
  #automation: string | undefined;
  #buffered = 0;
  #listsRules = false;
  readonly #ran = new Set<string>();
  readonly #found = new Set<string>();
  readonly #components = new SarifComponents((size) => this.#reserve(size));
  readonly #locations = new SarifLocations();

  take(match: JsonMatch): void {
    const { path, keys, value } = match;
    const member = path.slice('runs.*.'.length);
    const text = textOf(value);
    if (path === RULES) this.#listsRules = true;
    else if (member.startsWith('tool.') || member.startsWith('taxonomies.')) this.#takeOfComponent(match);
    else if (member === 'automationDetails.id') this.#automation = text?.slice(0, 1_000);
    else if (member === 'invocations.*.executionSuccessful') this.#failed ||= value === false;
    else if (member === 'invocations.*.ruleConfigurationOverrides.*') {
      this.#components.addOverride(keys[3] as number, value);
    } else if (member.endsWith('TimeUtc')) {
      const time = parseTime(value);
      if (Number.isNaN(time)) this.scannedAt ??= time;
      else if (time !== undefined) this.scannedAt = Math.max(this.scannedAt || 0, time);
    } else if (member === 'originalUriBaseIds.*') {
      const { uri, uriBaseId } = asJsonObject(value);
      this.#addBase(String(keys[3]), textOf(uri), textOf(uriBaseId));
    } else if (text === undefined) return;
    else if (member === 'invocations.*.workingDirectory.uri') {
      if (text.length <= MAX_TEXT) this.#locations.bases.addWorkingFolder(text);
    } else if (!this.#reserve(text.length)) return;
    else if (member.startsWith('artifacts.')) {
      this.#locations.addToArtifact(keys[3] as number, String(keys.at(-1)), text);
    } else this.#locations.addToLogicalLocation(keys[3] as number, String(keys.at(-1)), text);
  }

  /** Identifies later reports of the same subject (docs/imports.md, SARIF). */
  get artifact(): string {
    return this.#automation?.replace(RUN_SUFFIX, '') || this.#automation || (this.source ?? 'sarif');
  }

  /** Whether every invocation succeeded, so that missing findings are gone. */
  get isComplete(): boolean {
    return !this.#failed;
  }

  addResultOf(rule: string | undefined): void {
    if (rule !== undefined && this.#found.size < MAX_RULES) this.#found.add(rule);
  }

  /**
   * The rules that ran: those that the tool lists, except disabled ones. Tools that list no rules, or only those with
   * results, do not say so; `automationDetails.id` then says that it is the same kind of run (section 3.17.3).
   */
  get checks(): ReadonlySet<string> | 'all' {
    if (this.#ran.size > 0) return new Set([...this.#ran, ...this.#found]);
    const isKnownKind = this.#automation !== undefined || (!this.#listsRules && this.#found.size === 0);
    return isKnownKind ? 'all' : this.#found;
  }

  /** Whether the metadata of a result may be in the part of a truncated report that was not read. */
  isMissingPartsFor(result: JsonObject, offset: number): boolean {
    if (this.#toolOffset === undefined) return true;
    const rule = this.ruleOf(result);
    if (offset < this.#toolOffset && rule === undefined) return true;
    const { text, id } = asJsonObject(result.message);
    const string = text === undefined ? textOf(id) : undefined;
    if (string !== undefined && !('text' in this.messageStringOf(string, rule, result))) return true;
    const locations = arrayOf(result.locations).map(asJsonObject);
    return !locations.every(({ physicalLocation, logicalLocations }) =>
      this.#locations.knows(
        asJsonObject(asJsonObject(physicalLocation).artifactLocation),
        asJsonObject(arrayOf(logicalLocations)[0]),
      ),
    );
  }

  ruleOf(result: JsonObject): SarifRule | undefined {
    return this.#components.ruleOf(ruleReference(result));
  }

  /** @returns the level that the invocation of a result sets for its rule (section 3.27.10) */
  overrideOf(result: JsonObject, rule: SarifRule | undefined): string | undefined {
    const invocation = numberOf(asJsonObject(result.provenance).invocationIndex);
    const subject = rule ?? textOf(ruleReference(result).id);
    return invocation === undefined || subject === undefined
      ? undefined
      : this.#components.levelOf(invocation, subject);
  }

  /** @returns the message string that a message of a result refers to */
  messageStringOf(id: string, rule: SarifRule | undefined, result: JsonObject): JsonObject {
    return this.#components.messageOf(id, rule, ruleReference(result));
  }

  /** @returns ids of taxa, which may be CWE ids */
  taxaOf(references: readonly unknown[]): string {
    return references.map((reference) => this.#components.taxonOf(asJsonObject(reference))).join(' ');
  }

  pathOf(location: JsonObject): string | undefined {
    return this.#locations.pathOf(location);
  }

  logicalNameOf(location: JsonObject): string | undefined {
    return this.#locations.logicalNameOf(location);
  }

  #takeOfComponent({ path, keys, value, offset }: JsonMatch): void {
    const isDriver = path.startsWith('runs.*.tool.driver.');
    const isTaxonomy = path.startsWith('runs.*.taxonomies.');
    const component = isDriver ? '' : isTaxonomy ? `taxonomy ${keys[3]}` : String(keys[4]);
    const member = path.replace(COMPONENT, '');
    const text = textOf(value);
    if (isDriver && (member === 'name' || member === 'rules.*')) this.#toolOffset ??= offset;
    if (isDriver && member === 'name' && text !== undefined)
      this.source = sanitizeText(truncateText(text, MAX_NAME));
    if (member === 'rules.*') this.#addRan(asJsonObject(value));
    if (member === 'rules.*') this.#components.addRule(component, keys.at(-1) as number, value);
    else if (member === 'globalMessageStrings.*')
      this.#components.addMessage(component, String(keys.at(-1)), value);
    else if (text === undefined) return;
    else if (member === 'name') this.#components.addName(component, text);
    else if (member === 'guid') this.#components.addGuid(component, text);
    else this.#components.addTaxon(component, keys.at(-2) as number, String(keys.at(-1)), text);
  }

  #addRan({ id, defaultConfiguration }: JsonObject): void {
    const name = textOf(id);
    const isEnabled = asJsonObject(defaultConfiguration).enabled !== false;
    if (name !== undefined && isEnabled && this.#ran.size < MAX_RULES) this.#ran.add(name);
  }

  #addBase(name: string, uri: string | undefined, parent: string | undefined): void {
    if (this.#reserve(name.length + (uri?.length ?? 0) + (parent?.length ?? 0))) {
      this.#locations.bases.add(name, uri, parent);
    }
  }

  #reserve(size: number): boolean {
    if (this.#buffered + size > MAX_BUFFERED) return false;
    this.#buffered += size;
    return true;
  }
}

/** Merges the ways in which a result refers to its rule (sections 3.27.5 to 3.27.7). */
function ruleReference(result: JsonObject): JsonObject {
  const { id, index, guid, toolComponent } = asJsonObject(result.rule);
  return { id: id ?? result.ruleId, index: index ?? result.ruleIndex, guid, toolComponent };
}
