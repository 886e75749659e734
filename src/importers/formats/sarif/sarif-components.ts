import { asJsonObject, isJsonObject, type JsonObject, numberOf, textOf } from '../../parsing/json-values.ts';
import { ruleFrom, type SarifRule } from './sarif-rules.ts';

/** Characters of an id, like those of a rule, and segments that are left out to find its rule. */
const [MAX_RULE_ID, MAX_SEGMENTS] = [16_384, 32];

/** The rules and taxa to which results refer, in a tool, its extensions and taxonomies: by index, id or GUID. */
export class SarifComponents {
  /** Takes characters from what a run may buffer. */
  readonly #tryReserve: (size: number) => boolean;
  /** By component and index, by component and id, and by GUID. */
  readonly #rules = new Map<string, SarifRule>();
  /** Keys of components and taxonomies, by name and by GUID. */
  readonly #keys = new Map<string, string>();
  /** Names of components and taxonomies by key. */
  readonly #names = new Map<string, string>();
  /** Message strings by component and id. */
  readonly #messages = new Map<string, JsonObject>();
  /** Ids of taxa by component and index, and indexes by GUID. */
  readonly #taxa = new Map<string, string>();
  /** Descriptors and levels by invocation. */
  readonly #overrides = new Map<number, [descriptor: JsonObject, level: string][]>();
  readonly #levels = new Map<number, Map<SarifRule | string, string>>();

  constructor(tryReserve: (size: number) => boolean) {
    this.#tryReserve = tryReserve;
  }

  addRule(component: string, index: number, value: unknown): void {
    if (!isJsonObject(value)) return;
    const { rule, size } = ruleFrom(value, component);
    if (!this.#tryReserve(size)) return;
    this.#rules.set(`${component}#${index}`, rule);
    const guid = guidOf(rule.guid);
    // For results that do not name the rule's component.
    const names = rule.id === undefined ? [] : [`${component}:${rule.id}`, `*:${rule.id}`];
    for (const name of guid === undefined ? names : [...names, guid]) {
      if (!this.#rules.has(name)) this.#rules.set(name, rule);
    }
  }

  addName(component: string, name: string): void {
    if (!this.#tryReserve(name.length * 2)) return;
    this.#names.set(component, name);
    this.#keys.set(`${kindOf(component)}:${name}`, component);
  }

  addGuid(component: string, guid: string): void {
    if (this.#tryReserve(guid.length))
      this.#keys.set(`${kindOf(component)}#${guidOf(guid) ?? ''}`, component);
  }

  addMessage(component: string, id: string, value: unknown): void {
    const { text, markdown } = asJsonObject(value);
    const message = { text: textOf(text), markdown: textOf(markdown) };
    const size = id.length + (message.text?.length ?? 0) + (message.markdown?.length ?? 0);
    if (this.#tryReserve(100 + size)) this.#messages.set(`${component}:${id}`, message);
  }

  addTaxon(component: string, index: number, member: string, text: string): void {
    if (!this.#tryReserve(100 + text.length)) return;
    if (member === 'id') this.#taxa.set(`${component}#${index}`, text);
    else this.#taxa.set(guidOf(text) ?? '', `${component}#${index}`);
  }

  addOverride(invocation: number, value: unknown): void {
    const { descriptor, configuration } = asJsonObject(value);
    const level = textOf(asJsonObject(configuration).level);
    if (level === undefined || !isJsonObject(descriptor)) return;
    if (!this.#tryReserve(100 + JSON.stringify(descriptor).length)) return;
    const overrides = this.#overrides.get(invocation) ?? [];
    overrides.push([descriptor, level]);
    this.#overrides.set(invocation, overrides);
  }

  /** By index, by GUID, by id, and by the id without its last segments (sections 3.27.5 to 3.27.7 and 3.52). */
  ruleOf(reference: JsonObject): SarifRule | undefined {
    const component = this.#componentOf(reference);
    const index = numberOf(reference.index);
    const guid = guidOf(reference.guid);
    const rule =
      (index === undefined ? undefined : this.#rules.get(`${component}#${index}`)) ??
      (guid === undefined ? undefined : this.#rules.get(guid));
    if (rule !== undefined) return rule;
    let id = textOf(reference.id)?.slice(0, MAX_RULE_ID) ?? '';
    for (let segments = 0; id !== '' && segments < MAX_SEGMENTS; segments += 1) {
      const namedRule = this.#rules.get(`${component}:${id}`) ?? this.#rules.get(`*:${id}`);
      if (namedRule !== undefined) return namedRule;
      id = id.slice(0, Math.max(id.lastIndexOf('/'), 0));
    }
    return undefined;
  }

  /** @returns the level that an invocation sets for a rule (section 3.20.5) */
  levelOf(invocation: number, rule: SarifRule | string): string | undefined {
    const overrides = this.#overrides.get(invocation);
    if (overrides === undefined) return undefined;
    let levels = this.#levels.get(invocation);
    if (levels === undefined) {
      levels = new Map(
        overrides.map(([descriptor, level]) => [
          this.ruleOf(descriptor) ?? textOf(descriptor.id) ?? '',
          level,
        ]),
      );
      this.#levels.set(invocation, levels);
    }
    return levels.get(rule);
  }

  /** @returns the message of a rule, else of its component (section 3.11.7) */
  messageOf(id: string, rule: SarifRule | undefined, reference: JsonObject): JsonObject {
    const message = rule !== undefined && Object.hasOwn(rule.messages, id) ? rule.messages[id] : undefined;
    if (isJsonObject(message)) return message;
    const component = rule?.component ?? this.#componentOf(reference);
    return asJsonObject(this.#messages.get(`${component}:${id}`) ?? this.#messages.get(`:${id}`));
  }

  /** @returns the id of a taxon (section 3.52), with `CWE-` before bare numbers of that list */
  taxonOf(reference: JsonObject): string {
    const index = numberOf(reference.index) ?? '';
    const indexKey = `${this.#taxonomyOf(reference)}#${index}`;
    const key = this.#taxa.get(guidOf(reference.guid) ?? '') ?? indexKey;
    const id = textOf(reference.id) ?? this.#taxa.get(key) ?? '';
    const list =
      textOf(asJsonObject(reference.toolComponent).name) ??
      this.#names.get(key.slice(0, key.lastIndexOf('#'))) ??
      '';
    return /cwe|common weakness/i.test(list) && /^\d+$/.test(id) ? `CWE-${id}` : id;
  }

  #componentOf({ toolComponent }: JsonObject): string {
    if (toolComponent === undefined) return '';
    const { index, name, guid } = asJsonObject(toolComponent);
    const number = numberOf(index);
    if (number !== undefined && number >= 0) return String(number);
    return this.#keys.get(`#${guidOf(guid) ?? ''}`) ?? this.#keys.get(`:${textOf(name) ?? ''}`) ?? '';
  }

  #taxonomyOf(reference: JsonObject): string {
    if (reference.toolComponent === undefined) return '';
    const { index, name, guid } = asJsonObject(reference.toolComponent);
    const number = numberOf(index);
    const numbered = `taxonomy ${number}`;
    if (number !== undefined && this.#names.has(numbered)) return numbered;
    return (
      this.#keys.get(`taxonomy#${guidOf(guid) ?? ''}`) ??
      this.#keys.get(`taxonomy:${textOf(name) ?? ''}`) ??
      this.#componentOf(reference)
    );
  }
}

/** Taxonomies and components are lists of their own. */
const kindOf = (component: string): string => (component.startsWith('taxonomy') ? 'taxonomy' : '');

/** @returns a GUID in the form in which two are compared */
function guidOf(value: unknown): string | undefined {
  const text = textOf(value)?.slice(0, 100).toLowerCase();
  return text === undefined ? undefined : `guid ${text.replace(/[{}]/g, '')}`;
}
