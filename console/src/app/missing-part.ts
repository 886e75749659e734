import { lazyRouteComponent } from '@tanstack/react-router';

/** Error messages of browsers for a script or stylesheet that could not be loaded. */
const LOAD_ERROR = /dynamically imported module|importing a module script|preload CSS/i;

/** Whether a script or stylesheet of the console could not be loaded. */
export const isMissingPart = (error: unknown): error is Error =>
  error instanceof Error && LOAD_ERROR.test(error.message);

/**
 * Like `lazyRouteComponent`, which reloads the document if an error begins like that of a missing script. While the
 * server is unreachable, the browser would then replace the console with an error page of its own.
 */
export const lazyPage = ((load: () => Promise<Record<string, unknown>>, name: string) =>
  lazyRouteComponent(
    () =>
      load().catch((error: unknown) => {
        throw isMissingPart(error) ? new Error(`Part missing: ${error.message}`, { cause: error }) : error;
      }),
    name,
  )) as typeof lazyRouteComponent;
