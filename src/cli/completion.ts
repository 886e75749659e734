import { Argument, type Command } from 'commander';
import { addCommand } from './command.ts';
import { printLines } from './print.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** What may follow one command. */
interface CompletionContext {
  /** The words up to here, each after a space; empty for the program itself. */
  at: string;
  commands: CompletionWord[];
  options: (CompletionWord & { takesValue: boolean; values: readonly string[] })[];
  /** What its arguments may be, where only some words are allowed. */
  values: readonly string[];
}

interface CompletionWord {
  word: string;
  description: string;
}

export function registerCompletionCommand(program: Command): void {
  addCommand(program, 'completion', {
    description: 'Print what teaches a shell to complete commands and options',
    examples: [
      ['source <(assay completion bash)', 'in ~/.bashrc'],
      ['source <(assay completion zsh)', 'in ~/.zshrc, after compinit'],
      ['assay completion fish > ~/.config/fish/completions/assay.fish'],
    ],
    data: false,
    json: false,
  })
    .addArgument(new Argument('<shell>', 'which one').choices(SHELLS))
    .action((shell: Shell) => {
      const places = completionContexts(program, '');
      printLines(...{ bash: bashLines, zsh: zshLines, fish: fishLines }[shell](places));
    });
}

function completionContexts(command: Command, at: string): CompletionContext[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  return [
    {
      at,
      commands: commands.map((one) => ({ word: one.name(), description: one.description() })),
      options: help.visibleOptions(command).map(({ long, short, description, required, argChoices }) => ({
        word: long ?? short ?? '',
        description,
        takesValue: required,
        values: argChoices ?? [],
      })),
      values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    },
    ...commands.flatMap((one) => completionContexts(one, `${at} ${one.name()}`)),
  ];
}

/** @returns the `case` by which bash and zsh find out from the words before the cursor where they are */
function shellCases(places: readonly CompletionContext[]): string[] {
  return [
    '    case "$at $word" in',
    `      ${places
      .slice(1)
      .map(({ at }) => quote(at))
      .join('|')}) at="$at $word" ;;`,
    '    esac',
  ];
}

function bashLines(places: readonly CompletionContext[]): string[] {
  const words = (list: readonly string[]) =>
    `COMPREPLY=($(compgen -W ${quote(list.join(' '))} -- "$current"))`;
  return [
    '_assay() {',
    '  local at= word current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
    '  COMPREPLY=()',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...shellCases(places),
    '  done',
    '  case "$at $previous" in',
    ...optionsWithValue(places).map(
      ({ at, word, values }) =>
        `    ${quote(`${at} ${word}`)}) ${values.length === 0 ? '' : `${words(values)}; `}return ;;`,
    ),
    '  esac',
    '  case "$at" in',
    ...places.map(({ at, commands, options, values }) => {
      const all = [...commands, ...options].map(({ word }) => word);
      return `    ${quote(at)}) ${words([...values, ...all])} ;;`;
    }),
    '  esac',
    '}',
    // Where none of the words fits, a file may.
    'complete -o default -F _assay assay',
  ];
}

function zshLines(places: readonly CompletionContext[]): string[] {
  const entry = ({ word, description }: CompletionWord) =>
    quote(`${word.replaceAll(':', '\\:')}:${description}`);
  const entries = (name: string, list: readonly CompletionWord[]) => `${name}=(${list.map(entry).join(' ')})`;
  return [
    '#compdef assay',
    '_assay() {',
    "  local at='' word",
    '  local -a entries options',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...shellCases(places),
    '  done',
    '  case "$at ${words[CURRENT-1]}" in',
    ...optionsWithValue(places).map(
      ({ at, word, values }) =>
        `    ${quote(`${at} ${word}`)}) ${values.length === 0 ? '_files' : `compadd -- ${values.map(quote).join(' ')}`}; return ;;`,
    ),
    '  esac',
    '  case "$at" in',
    ...places.map(({ at, commands, options, values }) => {
      const words = [...values.map((word) => ({ word, description: word })), ...commands];
      return `    ${quote(at)}) ${entries('entries', words)}; ${entries('options', options)} ;;`;
    }),
    '  esac',
    // What is described as options is offered after a hyphen alone.
    '  if [[ $PREFIX = -* ]]; then _describe -o option options',
    // Where none of the words fits, a file may.
    '  else (( $#entries )) && _describe command entries || _files; fi',
    '}',
    'compdef _assay assay',
  ];
}

function fishLines(places: readonly CompletionContext[]): string[] {
  const complete = ({ at }: CompletionContext, rest: string) =>
    `complete -c assay -n ${quote(`__assay_at ${quote(at)}`)} ${rest}`;
  return [
    'function __assay_at',
    "    set -l at ''",
    '    for word in (commandline -opc)[2..-1]',
    '        switch "$at $word"',
    `            case ${places
      .slice(1)
      .map(({ at }) => quote(at))
      .join(' ')}`,
    '                set at "$at $word"',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    ...places.flatMap((place) => [
      ...place.commands.map(({ word, description }) =>
        complete(place, `-f -a ${word} -d ${quote(description)}`),
      ),
      ...(place.values.length === 0 ? [] : [complete(place, `-f -a ${quote(place.values.join(' '))}`)]),
      ...place.options.map(({ word, description, takesValue, values }) =>
        complete(
          place,
          `-l ${word.replace(/^--/, '')}${takesValue ? ' -r' : ''}${values.length === 0 ? '' : ` -f -a ${undescribed(values)}`} -d ${quote(description)}`,
        ),
      ),
    ]),
  ];
}

/** In fish a word without a description of its own has that of the option that takes it. */
function undescribed(values: readonly string[]): string {
  return quote(values.map((value) => `${value}\\t`).join(' '));
}

function optionsWithValue(
  places: readonly CompletionContext[],
): { at: string; word: string; values: readonly string[] }[] {
  return places.flatMap(({ at, options }) =>
    options.filter(({ takesValue }) => takesValue).map(({ word, values }) => ({ at, word, values })),
  );
}

/** For the shell: nothing in it means anything but itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
