import { Argument, type Command } from 'commander';
import { addCommand } from './command.ts';
import { printLines } from './print.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** The words that can follow a command. */
interface CompletionContext {
  /** Path of the command, with a space before each word; empty for the program itself. */
  command: string;
  commands: CompletionWord[];
  options: (CompletionWord & { takesValue: boolean; values: readonly string[] })[];
  /** Allowed values of the command's arguments; empty if any value is allowed. */
  values: readonly string[];
}

interface CompletionWord {
  word: string;
  description: string;
}

export function registerCompletionCommand(program: Command): void {
  addCommand(program, 'completion', {
    description: 'Generate the shell completion script.',
    examples: [
      ['source <(assay completion bash)', 'Add this line to ~/.bashrc.'],
      ['source <(assay completion zsh)', 'Add this line to ~/.zshrc, after compinit.'],
      ['assay completion fish > ~/.config/fish/completions/assay.fish'],
    ],
    data: false,
    json: false,
  })
    .addArgument(new Argument('<shell>', 'Generate the script for this shell.').choices(SHELLS))
    .action((shell: Shell) => {
      const contexts = completionContexts(program, '');
      printLines(...{ bash: bashLines, zsh: zshLines, fish: fishLines }[shell](contexts));
    });
}

function completionContexts(command: Command, path: string): CompletionContext[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  return [
    {
      command: path,
      commands: commands.map((subcommand) => ({
        word: subcommand.name(),
        description: subcommand.description(),
      })),
      options: help.visibleOptions(command).map(({ long, short, description, required, argChoices }) => ({
        word: long ?? short ?? '',
        description,
        takesValue: required,
        values: argChoices ?? [],
      })),
      values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    },
    ...commands.flatMap((subcommand) => completionContexts(subcommand, `${path} ${subcommand.name()}`)),
  ];
}

/** Returns the `case` statement with which bash and zsh find the command before the cursor. */
function shellCases(contexts: readonly CompletionContext[]): string[] {
  return [
    '    case "$at $word" in',
    `      ${contexts
      .slice(1)
      .map(({ command }) => quote(command))
      .join('|')}) at="$at $word" ;;`,
    '    esac',
  ];
}

function bashLines(contexts: readonly CompletionContext[]): string[] {
  const words = (list: readonly string[]) =>
    `COMPREPLY=($(compgen -W ${quote(list.join(' '))} -- "$current"))`;
  return [
    '_assay() {',
    '  local at= word current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}',
    '  COMPREPLY=()',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...shellCases(contexts),
    '  done',
    '  case "$at $previous" in',
    ...optionsWithValue(contexts).map(
      ({ at, word, values }) =>
        `    ${quote(`${at} ${word}`)}) ${values.length === 0 ? '' : `${words(values)}; `}return ;;`,
    ),
    '  esac',
    '  case "$at" in',
    ...contexts.map(({ command, commands, options, values }) => {
      const all = [...commands, ...options].map(({ word }) => word);
      return `    ${quote(command)}) ${words([...values, ...all])} ;;`;
    }),
    '  esac',
    '}',
    // Completes file names if no word matches.
    'complete -o default -F _assay assay',
  ];
}

function zshLines(contexts: readonly CompletionContext[]): string[] {
  const entry = ({ word, description }: CompletionWord) =>
    quote(`${word.replaceAll(':', '\\:')}:${description}`);
  const entries = (name: string, list: readonly CompletionWord[]) => `${name}=(${list.map(entry).join(' ')})`;
  return [
    '#compdef assay',
    '_assay() {',
    "  local at='' word",
    '  local -a entries options',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...shellCases(contexts),
    '  done',
    '  case "$at ${words[CURRENT-1]}" in',
    ...optionsWithValue(contexts).map(
      ({ at, word, values }) =>
        `    ${quote(`${at} ${word}`)}) ${values.length === 0 ? '_files' : `compadd -- ${values.map(quote).join(' ')}`}; return ;;`,
    ),
    '  esac',
    '  case "$at" in',
    ...contexts.map(({ command, commands, options, values }) => {
      const words = [...values.map((word) => ({ word, description: word })), ...commands];
      return `    ${quote(command)}) ${entries('entries', words)}; ${entries('options', options)} ;;`;
    }),
    '  esac',
    // Options are offered after a hyphen only.
    '  if [[ $PREFIX = -* ]]; then _describe -o option options',
    // Completes file names if no word matches.
    '  else (( $#entries )) && _describe command entries || _files; fi',
    '}',
    'compdef _assay assay',
  ];
}

function fishLines(contexts: readonly CompletionContext[]): string[] {
  const complete = ({ command }: CompletionContext, rest: string) =>
    `complete -c assay -n ${quote(`__assay_at ${quote(command)}`)} ${rest}`;
  return [
    'function __assay_at',
    "    set -l at ''",
    '    for word in (commandline -opc)[2..-1]',
    '        switch "$at $word"',
    `            case ${contexts
      .slice(1)
      .map(({ command }) => quote(command))
      .join(' ')}`,
    '                set at "$at $word"',
    '        end',
    '    end',
    '    test "$at" = "$argv[1]"',
    'end',
    ...contexts.flatMap((context) => [
      ...context.commands.map(({ word, description }) =>
        complete(context, `-f -a ${word} -d ${quote(description)}`),
      ),
      ...(context.values.length === 0 ? [] : [complete(context, `-f -a ${quote(context.values.join(' '))}`)]),
      ...context.options.map(({ word, description, takesValue, values }) =>
        complete(
          context,
          `-l ${word.replace(/^--/, '')}${takesValue ? ' -r' : ''}${values.length === 0 ? '' : ` -f -a ${undescribed(values)}`} -d ${quote(description)}`,
        ),
      ),
    ]),
  ];
}

/** Gives each value an empty description, or fish would repeat the description of the option. */
function undescribed(values: readonly string[]): string {
  return quote(values.map((value) => `${value}\\t`).join(' '));
}

function optionsWithValue(
  contexts: readonly CompletionContext[],
): { at: string; word: string; values: readonly string[] }[] {
  return contexts.flatMap(({ command, options }) =>
    options.filter(({ takesValue }) => takesValue).map(({ word, values }) => ({ at: command, word, values })),
  );
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
