// Runs before the first paint, and even where modules may not: chooses the language, and notices what keeps the page's
// own scripts from running. Plain script on purpose.
(function () {
  var root = document.documentElement;
  var asked = /[?&]lang=(en|zh)(&|$)/.exec(location.search);
  var preferred = (navigator.languages || [navigator.language || 'en']).map(function (tag) { return tag.slice(0, 2).toLowerCase(); });
  var known = preferred.filter(function (tag) { return tag === 'en' || tag === 'zh'; });
  root.dataset.browserLanguage = known[0] || 'en';
  root.lang = (asked ? asked[1] : root.dataset.browserLanguage) === 'zh' ? 'zh-Hans' : 'en';
  if (location.protocol === 'file:') root.dataset.trouble = 'file';
  addEventListener('error', function (event) {
    if (event.target instanceof HTMLScriptElement && !root.dataset.trouble) root.dataset.trouble = 'script';
  }, true);
})();
