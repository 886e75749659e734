import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { theme } from './src/app/theme.ts';

const OUTPUT = join(import.meta.dirname, '../dist/console');
const TOKENS = join(import.meta.dirname, '../assets/tokens.css');

/** The theme's variables as a stylesheet: the policy of the page takes no style from a script. */
function themeVariables(): Plugin {
  const name = 'virtual:theme.css';
  return {
    name: 'theme-variables',
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load: (id) =>
      id === `\0${name}`
        ? convertCssVariables(defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme)), ':root')
        : null,
  };
}

/** Adds the fonts that the design tokens name, `inter-VERSION-SUBSET.woff2`, from the package of that version. */
function fonts(): Plugin {
  const packageFile = fileURLToPath(import.meta.resolve('@fontsource-variable/inter/package.json'));
  return {
    name: 'fonts',
    buildStart() {
      const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
      for (const [, named, subset] of readFileSync(TOKENS, 'utf8').matchAll(
        /inter-([\d.]+)-([a-z-]+)\.woff2/g,
      )) {
        if (named !== version) throw new Error(`${TOKENS} names version ${named} of Inter, not ${version}.`);
        this.emitFile({
          type: 'asset',
          fileName: `files/inter-${version}-${subset}.woff2`,
          source: readFileSync(join(packageFile, `../files/inter-${subset}-wght-normal.woff2`)),
        });
      }
    },
  };
}

/** Writes each file but the fonts, which are compressed, beside itself in the form in which browsers get it. */
function packed(): Plugin {
  return {
    name: 'packed',
    writeBundle() {
      const folder = join(OUTPUT, 'files');
      for (const name of readdirSync(folder).filter((file) => !file.endsWith('.woff2')))
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(readFileSync(join(folder, name))));
    },
  };
}

/** Packages that only pages with a list take. */
const OF_LISTS = /@tanstack\/(react-)?virtual/;
/** Those that only forms and dialogs take. */
const OF_FORMS =
  /\/(fast-deep-equal|klona|@mantine\/form|@mantine\/core\/esm\/components\/(FileInput|NumberInput|Progress|Select|Switch|Table|Tabs|TagsInput|Textarea))\//;
/** The console's own modules that most pages use. */
const OF_MOST_PAGES =
  /console\/src\/(app|session|queries|components\/(assessment-name|due-date|fill-sentence|identity-marks|labelled-mark|marks|messages|more-menu|next-step-messages|notifications|page|page-actions|tab-links|time|vulnerability-pills)\.)/;

const isOfEveryPage = (id: string) => id.includes('node_modules') && !OF_LISTS.test(id) && !OF_FORMS.test(id);

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react(), themeVariables(), fonts(), packed()],
  resolve: {
    alias: {
      // Its form for browsers needs the document, which the worker that parses Markdown does not have.
      'decode-named-character-reference': fileURLToPath(
        import.meta.resolve('decode-named-character-reference'),
      ),
    },
  },
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    assetsDir: 'files',
    // An address with data in it is an outside source to the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        // What three pages and more take of packages comes as one file: to ask for each of forty costs a fifth of a load.
        // Home does not take those of lists and forms. A group also takes what its own need.
        codeSplitting: {
          groups: [
            { name: 'packages', test: isOfEveryPage, minShareCount: 3, priority: 1 },
            { name: 'app', test: OF_MOST_PAGES, minShareCount: 8 },
            { name: 'list-packages', test: OF_LISTS },
            { name: 'form-packages', test: OF_FORMS },
          ],
        },
      },
    },
  },
});
