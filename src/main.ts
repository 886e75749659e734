import { runCli } from './cli/program.ts';

// A closed pipe, as in `assay user list | head -1`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCli(process.argv.slice(2));
