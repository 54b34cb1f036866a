"use strict";
// Elements, and numbers as text. Text is inserted as text and never as HTML: names of columns come from a table.

const facts = JSON.parse(document.getElementById("facts").textContent);
const SVG = "http://www.w3.org/2000/svg";

function byId(name) { return document.getElementById(name); }

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  for (const child of [].concat(children === undefined ? [] : children)) element.append(child);
  return element;
}

function html(tag, attributes, children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// The text without its middle if it is too long; Array.from does not split an emoji.
function shorten(text, longest) {
  const letters = Array.from(text);
  if (letters.length <= longest) return text;
  const end = Math.floor(longest / 3);
  return letters.slice(0, longest - end - 1).join("") + "…" + letters.slice(letters.length - end).join("");
}

// The text in pieces between which a line may break: at underscores, and where a small letter or a digit meets
// another kind, as in MonthlyIncome. The text itself stays as it is.
function breakable(text) {
  const pieces = text.split(/(?<=[_./])(?=[^_./])|(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])/);
  return pieces.flatMap((piece, k) => (k > 0 ? [html("wbr", {}), piece] : [piece]));
}

// Give an element a shortened text, and the whole text as its title.
function named(element, text, longest) {
  const shown = shorten(text, longest), isDrawn = element.namespaceURI === SVG;
  element.replaceChildren(...(isDrawn ? [shown] : breakable(shown)));
  if (shown !== text) {
    if (isDrawn) element.append(svg("title", {}, text));
    else element.title = text;
  }
  return element;
}

function percent(value) { return Number.isFinite(value) ? (100 * value).toFixed(1) + "%" : "–"; }

function amount(value) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.round(value * 10) / 10;
  return rounded.toLocaleString("en-US", { maximumFractionDigits: value < 1000 ? 1 : 0 });
}

function significant(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= facts.roc.largest) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(2);
  const rounded = Number(value.toPrecision(digits || 4));
  return size >= 1e4 ? rounded.toLocaleString("en-US") : String(rounded);
}

function thresholdText(value) {
  return value === null ? "above every score" : significant(value, 4);
}
