import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../domain/sign-in/sessions.ts';
import { Form } from './forms.tsx';

/** The session, for the header of every page (see `sendHtmlPage`). */
export const SessionContext = createContext<Session | null>(null);

interface PageProps {
  /** The heading and the title. */
  title: string;
  /** Files of `/assets`, besides the one that sets the colour scheme. */
  scripts?: readonly string[];
  /** Whether the page has sections rather than one sheet. */
  isWide?: boolean;
  nav?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, scripts = [], isWide = false, nav, children }: PageProps) {
  const session = useContext(SessionContext);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} - Assay`}</title>
        <link
          rel="preload"
          as="font"
          type="font/woff2"
          crossorigin="anonymous"
          href="/console/files/inter-5.3.0-latin.woff2"
        />
        <link rel="stylesheet" href="/assets/tokens.css" />
        <link rel="stylesheet" href="/assets/assay.css" />
        <link rel="icon" type="image/svg+xml" href="/assets/assay.svg" />
        <script src="/assets/scheme.js"></script>
        {scripts.map((file) => (
          <script key={file} type="module" src={`/assets/${file}`}></script>
        ))}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header>
          <div class="bar">
            <a class="brand" href="/">
              <Logo />
              Assay
            </a>
            {session !== null && (
              <div class="who">
                <a class="console" href="/">
                  Console
                </a>
                <span class="email" title={session.email}>
                  {session.email}
                </span>
                <Form action="/sign-out">
                  <button type="submit" class="plain small">
                    Sign out
                  </button>
                </Form>
              </div>
            )}
          </div>
          {nav}
        </header>
        <main id="content" class={isWide ? 'wide' : 'narrow'}>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}

function Logo() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M12 2 20 5v6c0 5.2-3.3 9-8 11-4.7-2-8-5.8-8-11V5z" />
      <path class="tick" d="m8 12 3 3 5-6" />
    </svg>
  );
}
