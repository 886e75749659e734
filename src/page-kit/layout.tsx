import { type ComponentChildren, createContext } from 'preact';
import type { Session } from '../domain/sign-in/sessions.ts';
import { Logo } from './marks.tsx';
import { LAYOUT_MESSAGES } from './messages.ts';

/** The session, for the frame of every page (see `sendHtmlPage`). */
export const SessionContext = createContext<Session | null>(null);

interface DocumentProps {
  title: string;
  /** Files of `/assets`, besides the one that sets the colour scheme. */
  scripts?: readonly string[];
  children: ComponentChildren;
}

/** The HTML around the content of every page. */
export function Document({ title, scripts = [], children }: DocumentProps) {
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
          {LAYOUT_MESSAGES.skip}
        </a>
        {children}
      </body>
    </html>
  );
}

interface PageProps extends DocumentProps {
  /** Defaults to the title. */
  heading?: string;
  /** A line below the heading. */
  subheading?: string;
  /** Whether the page is a list rather than a form. */
  isWide?: boolean;
}

/** A page with one column: a form that needs no session, or a message. */
export function Page({
  title,
  heading = title,
  subheading,
  scripts = [],
  isWide = false,
  children,
}: PageProps) {
  return (
    <Document title={title} scripts={scripts}>
      <div class="column">
        <main id="content" class={isWide ? 'wide' : undefined} tabIndex={-1}>
          <div class="brand">
            <a href="/" aria-label={LAYOUT_MESSAGES.home}>
              <Logo />
            </a>
            <h1>{heading}</h1>
            {subheading !== undefined && <p class="hint">{subheading}</p>}
          </div>
          {children}
        </main>
        <footer>
          <a href="/docs">{LAYOUT_MESSAGES.apiReference}</a>
        </footer>
      </div>
    </Document>
  );
}
