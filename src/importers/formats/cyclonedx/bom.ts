import {
  arrayOf,
  asJsonObject,
  isJsonObject,
  type JsonObject,
  textOf,
  textsOf,
} from '../../parsing/json-values.ts';
import { decodePercent } from '../../parsing/urls.ts';
import type { ReportRecord } from '../../report.ts';
import { cutSharedName } from '../../targets.ts';

/** A component, or a service. */
export interface Component {
  /** Without version, so that an update stays the same package. */
  name: string;
  version: string | undefined;
  /** Addresses of a service. */
  endpoints: readonly string[];
}

const MAX_COMPONENTS = 300_000;
const MAX_DEPTH = 50;
const MAX_NAME = 500;
const MAX_ENDPOINTS = 100;

export class ComponentIndex {
  readonly #byRef = new Map<string, Component>();
  #listed = false;

  addList(values: readonly unknown[], depth = 0): void {
    for (const value of values) {
      if (!isJsonObject(value)) continue;
      this.#listed = true;
      this.add(value);
      if (depth < MAX_DEPTH) this.addList(arrayOf(value.components), depth + 1);
    }
  }

  add(component: JsonObject): void {
    const ref = textOf(component['bom-ref']);
    if (ref === undefined || ref.length > MAX_NAME || this.#byRef.size >= MAX_COMPONENTS) return;
    this.#byRef.set(ref, {
      name: nameOf(component) ?? ref,
      version: textOf(component.version)?.slice(0, 100),
      endpoints: textsOf(component.endpoints).slice(0, MAX_ENDPOINTS),
    });
  }

  /** Services can contain services. They do not count as components that make the list complete. */
  addServices(values: readonly unknown[], depth = 0): void {
    for (const value of values) {
      if (!isJsonObject(value)) continue;
      this.add(value);
      if (depth < MAX_DEPTH) this.addServices(arrayOf(value.services), depth + 1);
    }
  }

  has(ref: string | undefined): boolean {
    return ref !== undefined && (this.#byRef.has(ref) || ref.startsWith('pkg:'));
  }

  /** @param ref of a component, possibly of another document (BOM-Link, `urn:cdx:…#ref`), or a package URL */
  find(ref: string): Component {
    const component = this.#byRef.get(ref);
    if (component !== undefined) return component;
    const localRef = ref.startsWith('urn:cdx:') && ref.includes('#') ? ref.slice(ref.indexOf('#') + 1) : ref;
    const decodedRef = localRef.startsWith('pkg%3A') ? decodePercent(localRef) : localRef;
    const decodedComponent = this.#byRef.get(decodedRef);
    if (decodedComponent !== undefined) return decodedComponent;
    const name = packageOf(decodedRef);
    return {
      name: name ?? decodedRef,
      version: name === undefined ? undefined : versionOf(decodedRef),
      endpoints: [],
    };
  }

  /** Whether the BOM lists components, and not only its subject. */
  get isListed(): boolean {
    return this.#listed;
  }
}

export class Bom {
  readonly components = new ComponentIndex();
  subject: JsonObject = {};
  scannedAt: number | undefined;
  /** A BOM without a list of vulnerabilities says nothing about them. */
  listsVulnerabilities = false;
  /** The tools that wrote the BOM; each finds different vulnerabilities. */
  checks = '';

  setSubject(subject: JsonObject): void {
    this.subject = subject;
    this.components.add(subject);
    this.components.addList(arrayOf(subject.components));
  }

  /** @param tools a list, or since 1.5 lists of components and services */
  setTools(tools: unknown): void {
    const { components, services } = asJsonObject(tools);
    const all = Array.isArray(tools) ? tools : [...arrayOf(components), ...arrayOf(services)];
    const names = all.flatMap((tool) => textOf(asJsonObject(tool).name)?.toLowerCase() ?? []);
    this.checks = [...new Set(names)].toSorted().join(', ').slice(0, MAX_NAME);
  }

  *records(): Generator<ReportRecord> {
    if (this.scannedAt !== undefined) yield { kind: 'report', scannedAt: this.scannedAt };
    if (this.listsVulnerabilities && this.components.isListed && nameOf(this.subject) !== undefined)
      yield { kind: 'covered', target: { artifact: artifactOf(this.subject) }, checks: [this.checks] };
  }
}

function nameOf(component: JsonObject): string | undefined {
  const packageName = packageOf(textOf(component.purl) ?? '');
  if (packageName !== undefined) return packageName;
  const parts = [textOf(component.group), textOf(component.name)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('/').slice(0, MAX_NAME);
}

/** @returns the package URL without version and qualifiers (`pkg:npm/%40scope/name`) */
function packageOf(purl: string): string | undefined {
  const parts = /^pkg:[^@?#]+/.exec(purl);
  return parts?.[0].slice(0, MAX_NAME);
}

function versionOf(purl: string): string | undefined {
  return /^pkg:[^@?#]+@([^?#]+)/.exec(purl)?.[1];
}

/** @returns the subject's name without its version */
export function artifactOf(subject: JsonObject): string {
  const parts = [textOf(subject.group), textOf(subject.name)].filter((part) => part !== undefined);
  return parts.length === 0 ? 'bom' : cutSharedName(parts.join('/')).replace(/@sha256:[0-9a-f]{64}$/i, '');
}
