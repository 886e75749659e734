// The link that opened this page is a secret: it goes out of the address bar, and out of what it suggests.
history.replaceState(null, '', location.pathname);
